/** A row of a file before it is understood. */
import type { Cell } from "./values.ts";

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
}

/** A record larger than this is damaged: an unclosed quote would otherwise swallow the rest of the file. */
export const largestRecord = 1024 * 1024;

export type Format = { readonly kind: "ndjson" } | { readonly kind: "csv"; readonly delimiter: string };
