/** Values of a lead out of the cells of a file (decisions on what a lead is): trimmed, and otherwise kept as they came. */

/** What a file has in one place: a text, or the texts of a list. */
export type Cell = string | readonly string[] | undefined;

/** The first value of its kind in a cell; null where there is none. */
export interface FirstOf {
  readonly value: string | null;
  /** Whether the cell held more than it: a name, brackets, a further value. */
  readonly cut: boolean;
}

/** Texts with which files say that there is nothing. Null and Nan are names as well, and stay. */
const nothing: ReadonlySet<string> = new Set([
  "",
  "-",
  "--",
  "N/A",
  "n/a",
  "null",
  "NULL",
  "NaN",
  "nan",
  "undefined",
  "\\N",
]);
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
  return text.toWellFormed().trim();
}

function unwrap(cell: string): readonly string[] {
  const text = trimmed(cell);
  if (isNothing(text)) return [];
  if (!text.startsWith("[") || !text.endsWith("]")) return [text];
  try {
    const list: unknown = JSON.parse(text);
    return Array.isArray(list) ? list.flatMap((item) => textsOf(itemText(item))) : [text];
  } catch {
    return [text];
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

/** A page is a text: a number in its column counts pages. */
export function firstPage(cell: Cell): string | null {
  return textsOf(cell).find((text) => !/^\d+$/.test(text)) ?? null;
}
