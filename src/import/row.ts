/** A record of a file before it is understood, and the first text or value in some of its columns. */
import type { Layout } from "./map/columns.ts";
import { type Cell, special, textsOf } from "./parse/cell.ts";

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
export const largestRecord = 1024 * 1024;

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
export function textIn({ cells }: Row, numbers: ColumnNumbers): string | null {
  for (const number of numbers ?? none) {
    const text = firstText(cells[number]);
    if (text !== null) return text;
  }
  return null;
}

/** Returns the first text of a cell that is not empty. */
export function firstText(cell: Cell): string | null {
  if (cell === "") return null;
  if (typeof cell !== "string") return textsOf(cell)[0] ?? null;
  // Most cells are one plain text, and there are many of them.
  const text = cell.toWellFormed().trim();
  return special.test(text) ? (textsOf(text)[0] ?? null) : text;
}
