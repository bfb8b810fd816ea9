/** A row of a file before it is understood, and the texts that its cells hold: trimmed, and otherwise kept as they came. */

/** One row as it came. */
export interface Row {
  /** The line of the file on which it begins, from 1. */
  readonly line: number;
  /** Its values by the number of their column. */
  readonly cells: readonly Cell[];
  /** Why it could not be read at all; null when it could. */
  readonly fault: string | null;
  /** Its text: the line of NDJSON, or the cells of CSV, those beyond the header at the end. */
  readonly source: string | readonly string[];
  /** Whether it names further people, who are left out. */
  readonly holdsOthers?: boolean;
}

/** What a file has in one place: a text, or the texts of a list. */
export type Cell = string | readonly string[] | undefined;

/** A record larger than this is damaged: an unclosed quote would otherwise swallow the rest of the file. */
export const largestRecord = 1024 * 1024;

/** A value of some kind that was found in a cell. */
export interface Found {
  readonly value: string;
  /** Whether the cell held more than it: a name, brackets, a further value. */
  readonly cut: boolean;
}

/** Texts with which files say that there is nothing. Null and Nan are names as well, and stay. */
const placeholders = "- -- N/A n/a null NULL NaN nan undefined \\N".split(" ");
/** What a spreadsheet shows where a formula has failed. As an id or a name it would make one of many people. */
const failures = "#N/A #REF! #VALUE! #NAME? #DIV/0! #NUM! #NULL! #ERROR!".split(" ");
const nothing: ReadonlySet<string> = new Set(["", ...placeholders, ...failures]);
const longestNothing = Math.max(...[...nothing].map((text) => text.length));

/** The texts of a cell that are not empty, trimmed; a cell that holds a JSON array is a list. */
export function textsOf(cell: Cell): readonly string[] {
  if (typeof cell === "string") return unwrap(cell);
  return cell === undefined ? [] : cell.flatMap(unwrap);
}

/** The first text of a cell that is not empty. */
export function firstText(cell: Cell): string | null {
  // Most cells are one plain text, and there are many of them.
  if (typeof cell === "string" && !cell.includes("[")) {
    const text = trimmed(cell);
    return isNothing(text) ? null : text;
  }
  return textsOf(cell)[0] ?? null;
}

/** Long texts are told by their length, without a look at their letters. */
function isNothing(text: string): boolean {
  return text.length <= longestNothing && nothing.has(text);
}

/** Half of a surrogate pair is no text that could be stored. */
function trimmed(text: string): string {
  const whole = text.toWellFormed().trim();
  return whole.startsWith('="') ? outOfFormula(whole) : whole;
}

/** The text in `="00123"`, with which programs keep a spreadsheet from taking a text for a number. */
function outOfFormula(formula: string): string {
  const text = /^="([^"]*(?:""[^"]*)*)"$/.exec(formula)?.[1];
  return text === undefined ? formula : trimmed(text.replaceAll('""', '"'));
}

function unwrap(cell: string): readonly string[] {
  const text = trimmed(cell);
  if (isNothing(text)) return [];
  const items = text.startsWith("[") && text.endsWith("]") ? itemsOfList(text) : null;
  return items?.flatMap(unwrap) ?? [text];
}

/** The numbers of the columns of one field; undefined where it has none. */
export type ColumnNumbers = readonly number[] | undefined;

/** What the first of some columns yields that yields something. */
export function first<Value>(row: Row, numbers: ColumnNumbers, read: (cell: Cell) => Value | null): Value | null {
  for (const number of numbers ?? []) {
    const value = read(row.cells[number]);
    if (value !== null) return value;
  }
  return null;
}

/** The items of a list that a cell has as JSON, those without a text left out; null for a text that is no list. */
function itemsOfList(text: string): readonly string[] | null {
  try {
    const list: unknown = JSON.parse(text);
    return Array.isArray(list) ? list.map(itemText).filter((item) => item !== undefined) : null;
  } catch {
    return null;
  }
}

/** Of an object in a list the value that the list is about. */
function itemText(item: unknown): string | undefined {
  if (typeof item === "string" || typeof item === "number" || typeof item === "boolean") return String(item);
  if (typeof item !== "object" || item === null) return undefined;
  const entries = Object.entries(item);
  const main = entries.find(([name]) => /^(?:url|page|page_?url|value|email|number|address|href)$/i.test(name));
  return typeof main?.[1] === "string" || typeof main?.[1] === "number" ? String(main[1]) : undefined;
}
