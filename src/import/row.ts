/** A record of a file, and the texts in its cells: trimmed, and otherwise as they are in the file. */
import type { Layout } from "./map/layout.ts";
import { parseJson } from "./parse/json-value.ts";

/** A row, or a record that could not be read. */
export type ReadRow = Row | RejectedRow;

/** A record with its values, each at the index of its column. */
export interface Row {
  /** The line of the file on which it begins, from 1. */
  readonly line: number;
  /** The values of the row, in the order of the columns of its layout. */
  readonly cells: readonly Cell[];
  readonly layout: Layout;
  /** The text of the row: the line of NDJSON, or the cells of CSV, with those after the last column of the header at the end. */
  readonly source: string | readonly string[];
  /** The time at which a delivery arrived, in Unix milliseconds. */
  readonly arrivedMs?: number;
}

/** A row that cannot become a lead, with its own text. */
export interface RejectedRow extends Pick<Row, "line" | "source"> {
  readonly reason: string;
}

/** A record larger than this is damaged: an unclosed quote would otherwise swallow the rest of the file. */
export const maxRecordLength = 1024 * 1024;
export const tooLarge = "it is larger than 1 MiB";
/** A line that holds a page of records is kept up to this length. A document may have any. */
export const maxPageLength = 8 * maxRecordLength;

/** A rejected row is kept up to this many characters. */
export const maxRejectedLength = 64 * 1024;

/** The indexes of the values of one field; undefined if it has none. */
export type Indexes = readonly number[] | undefined;

/** Returns what a function finds in the first of some indexes in which it finds anything. An empty cell has nothing. */
export function first<Value>({ cells }: Row, indexes: Indexes, find: (cell: Cell) => Value | null): Value | null {
  if (indexes === undefined) return null;
  for (const index of indexes) {
    const cell = cells[index];
    const value = cell === "" ? null : find(cell);
    if (value !== null) return value;
  }
  return null;
}

/** Returns the first text in some indexes that is not empty. */
export function textIn(row: Row, indexes: Indexes): string | null {
  return first(row, indexes, firstText);
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
  /** True if the cell has more than it: a name, brackets, a further value. */
  readonly cut: boolean;
}

/** Texts with which files say that there is nothing. Null and Nan are names as well, and stay. */
const placeholders = "- -- N/A n/a null NULL NaN nan undefined \\N".split(" ");
/** The text that a spreadsheet shows for a formula that failed. As an ID or a name it would make one of many people. */
const failures = "#N/A #REF! #VALUE! #NAME? #DIV/0! #NUM! #NULL! #ERROR!".split(" ");
const nothing: ReadonlySet<string> = new Set(["", ...placeholders, ...failures]);

/** A text that says nothing, a list, or a formula. Nearly all texts are none of these. */
const special = new RegExp(`^(?:[[=]|(?:${[...nothing].map((text) => RegExp.escape(text)).join("|")})$)`);

/** Returns the texts of a cell that are not empty, trimmed; a cell that holds a JSON array is a list. */
export function textsOf(cell: Cell): readonly string[] {
  if (cell === undefined) return [];
  return typeof cell === "string" ? unwrap(cell) : cell.flatMap(unwrap);
}

function unwrap(cell: string): readonly string[] {
  // Half of a surrogate pair is no text that could be stored.
  const text = cell.toWellFormed().trim();
  if (!special.test(text)) return [text];
  // Programs write ="00123" to keep a spreadsheet from taking a text for a number.
  const inFormula = /^="([^"]*(?:""[^"]*)*)"$/.exec(text)?.[1];
  if (inFormula !== undefined) return unwrap(inFormula.replaceAll('""', '"'));
  if (nothing.has(text)) return [];
  const list = text.startsWith("[") && text.endsWith("]") ? parseJson(text) : null;
  return Array.isArray(list) ? list.flatMap(itemText).flatMap(unwrap) : [text];
}

/** Returns an item of a list; of an object, the value that the list is about. */
function itemText(item: unknown): string | readonly string[] {
  if (typeof item === "string" || typeof item === "number" || typeof item === "boolean") return String(item);
  if (typeof item !== "object" || item === null) return [];
  const main = Object.entries(item).find(([name]) => mainName.test(name))?.[1];
  return typeof main === "string" || typeof main === "number" ? String(main) : [];
}

const mainName = /^(?:url|page|page_?url|value|email|number|address|href)$/i;
