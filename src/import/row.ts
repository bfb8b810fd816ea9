/** A record of a file before it is understood, and the texts in its cells: trimmed, and otherwise kept as they came. */
import type { Layout } from "./map/columns.ts";

/** One record as it came. */
export interface Row {
  /** The line of the file on which it begins, from 1. */
  readonly line: number;
  /** Its values, in the order of its layout. */
  readonly cells: readonly Cell[];
  /** Which of its values is which field. */
  readonly layout: Layout;
  /** Why it could not be read at all; null if it could. */
  readonly fault: string | null;
  /** Its text: the line of NDJSON, or the cells of CSV, those beyond the header at the end. */
  readonly source: string | readonly string[];
  /** What a list in it holds beyond the element that is kept. */
  readonly others?: ReadonlySet<"people" | "visits">;
}

/** A record larger than this is damaged: an unclosed quote would otherwise swallow the rest of the file. */
export const maxRecordLength = 1024 * 1024;
export const tooLarge = "it is larger than 1 MiB";

/** A rejected row is kept up to this many characters. */
export const maxRejectedLength = 64 * 1024;

/** The numbers of the values of one field; undefined if it has none. */
export type ColumnNumbers = readonly number[] | undefined;

const none: readonly number[] = [];

/** Returns what the first of some columns yields that yields something. Nothing comes of an empty cell. */
export function first<Value>({ cells }: Row, numbers: ColumnNumbers, read: (cell: Cell) => Value | null): Value | null {
  for (const number of numbers ?? none) {
    const cell = cells[number];
    const value = cell === "" ? null : read(cell);
    if (value !== null) return value;
  }
  return null;
}

/** Returns the first text in some columns that is not empty. */
export function textIn(row: Row, numbers: ColumnNumbers): string | null {
  return first(row, numbers, firstText);
}

/** Returns the first text of a cell that is not empty. */
export function firstText(cell: Cell): string | null {
  if (cell === "") return null;
  if (typeof cell !== "string") return textsOf(cell)[0] ?? null;
  // Most cells are one plain text, and there are many of them.
  const text = cell.toWellFormed().trim();
  return special.test(text) ? (textsOf(text)[0] ?? null) : text;
}

/** A text, or the texts of a list. */
export type Cell = string | readonly string[] | undefined;

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

/** One of those, a list or a formula. Nearly all texts are nothing of the kind, and are what they say. */
const special = new RegExp(`^(?:[[=]|(?:${[...nothing].map((text) => RegExp.escape(text)).join("|")})$)`);

/** The texts of a cell that are not empty, trimmed; a cell that holds a JSON array is a list. */
export function textsOf(cell: Cell): readonly string[] {
  if (typeof cell === "string") return unwrap(cell);
  return cell === undefined ? [] : cell.flatMap(unwrap);
}

function unwrap(cell: string): readonly string[] {
  const text = trimmed(cell);
  if (nothing.has(text)) return [];
  const items = text.startsWith("[") && text.endsWith("]") ? itemsOfList(text) : null;
  return items?.flatMap(unwrap) ?? [text];
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
