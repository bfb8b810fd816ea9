/** A row of a file before it is understood, and the first text or value in some of its columns. */
import { type Cell, special, textsOf } from "./parse/cell.ts";

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

/** A record larger than this is damaged: an unclosed quote would otherwise swallow the rest of the file. */
export const largestRecord = 1024 * 1024;

/** The numbers of the columns of one field; undefined where it has none. */
export type ColumnNumbers = readonly number[] | undefined;

const none: readonly number[] = [];

/** What the first of some columns yields that yields something. Nothing comes of an empty cell. */
export function first<Value>({ cells }: Row, numbers: ColumnNumbers, read: (cell: Cell) => Value | null): Value | null {
  for (const number of numbers ?? none) {
    const cell = cells[number];
    const value = cell === "" ? null : read(cell);
    if (value !== null) return value;
  }
  return null;
}

/** The first text in some columns that is not empty. */
export function textIn({ cells }: Row, numbers: ColumnNumbers): string | null {
  for (const number of numbers ?? none) {
    const text = firstText(cells[number]);
    if (text !== null) return text;
  }
  return null;
}

/** The first text of a cell that is not empty. */
export function firstText(cell: Cell): string | null {
  if (cell === "") return null;
  if (typeof cell !== "string") return textsOf(cell)[0] ?? null;
  // Most cells are one plain text, and there are many of them.
  const text = cell.toWellFormed().trim();
  return special.test(text) ? (textsOf(text)[0] ?? null) : text;
}
