/** Records of CSV that have not as many cells as the header: some can be mended, the others are rejected. */
import type { Row } from "../../row.ts";
import { readPlain } from "./plain-records.ts";
import type { RawRecord } from "./record-reader.ts";

/** A row of texts alone. */
export interface TextRow extends Row {
  readonly cells: readonly string[];
}

/** Makes a record a row of the width of the header, or says why it cannot be one. */
export function fit(record: RawRecord, width: number, delimiter: string): TextRow {
  const { line } = record;
  if (record.cells === null) {
    // The whole line goes behind the last column, where nobody takes it for values.
    return { line, cells: [], fault: record.fault, source: [...Array<string>(width).fill(""), record.text] };
  }
  const cells = outOfOneCell(record.cells, width, delimiter);
  // Some programs end every row with a delimiter more than the header.
  const blank = cells.length > width && cells.slice(width).every((cell) => cell.trim() === "");
  const kept = blank ? cells.slice(0, width) : cells;
  if (kept.length === width) return { line, cells: kept, fault: null, source: kept };
  const named = delimiter === "\t" ? "a tab" : `a ${delimiter}`;
  const hint = cells.length > width ? `; perhaps a value with ${named} in it is not quoted` : "";
  const counted = `the header has ${width} cells, and this row ${cells.length}${hint}`;
  return { line, cells: [], fault: counted, source: cells };
}

/**
 * A spreadsheet that expects another delimiter takes each line for one cell. It saves those with quotes in them in quotes
 * again.
 */
function outOfOneCell(cells: readonly string[], width: number, delimiter: string): readonly string[] {
  const [line] = cells;
  // A line end within it comes from a quote that is not closed.
  if (cells.length !== 1 || line === undefined || line.includes("\n")) return cells;
  const inside = readPlain(line, delimiter, 1).records[0]?.cells;
  return inside?.length === width ? inside : cells;
}
