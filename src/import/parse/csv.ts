/** CSV to rows: the first record is the header, and a record must fit it. */
import { UserError } from "../../user-error.ts";
import { type Columns, isRejectColumn, type Layout, noLayout } from "../map/columns.ts";
import { largestRecord, type Row } from "../row.ts";
import { type RawRecord, scanRecords } from "./csv-records.ts";

/** The header of a file. */
interface Header {
  readonly layout: Layout;
  /** Its cells, trimmed; null for the columns of a rejects file, which have values where the header stands once more. */
  readonly cells: readonly (string | null)[];
}

/** Reads UTF-8 in whole lines; the first record is the header. */
export async function* readCsv(
  chunks: AsyncIterable<Buffer>,
  columns: Columns,
  delimiter: string,
  firstLine: number,
): AsyncGenerator<Row[]> {
  let header: Header | null = null;
  let line = firstLine;
  let rest = "";
  /** Whether the rest of a line that is too long to be a record is skipped. */
  let isSkipping = false;
  function rowsOf(text: string, isLast: boolean): Row[] {
    const scanned = scanRecords(text, delimiter, line, isLast);
    ({ rest, line } = scanned);
    let rows: Row[] = [];
    for (const record of scanned.records) {
      if (header === null) header = readHeader(record, columns);
      else rows.push(toRow(record, header, delimiter));
    }
    // Few files have any, and to look through each cell takes time.
    if (text.includes("\0")) rows = rows.map(withoutNul);
    if (rest.length > largestRecord && !rest.includes("\n")) {
      const long: RawRecord = { line, cells: null, text: rest, fault: "it is larger than 1 MiB" };
      if (header === null) header = readHeader(long, columns);
      rows.push(toRow(long, header, delimiter));
      rest = "";
      isSkipping = true;
    }
    return rows;
  }
  for await (const chunk of chunks) {
    let text = chunk.toString("utf8");
    if (isSkipping) {
      const end = text.indexOf("\n") + 1;
      isSkipping = end === 0;
      text = isSkipping ? "" : text.slice(end);
      if (!isSkipping) line++;
    }
    yield rowsOf(rest + text, false);
  }
  yield rowsOf(rest, true);
}

/** Reads the header. Throws a UserError if it cannot be read: the line behind it is none. */
function readHeader(record: RawRecord, columns: Columns): Header {
  const { line, cells } = record;
  if (cells === null) throw unreadableHeader(line, record.fault, "Correct that line, and import the file again.");
  if (cells.some((cell) => cell.includes("\0"))) {
    throw unreadableHeader(line, "it holds a NUL, as no text does", "Unpack the file, or save its table as CSV.");
  }
  const names = cells.map((cell) => cell.trim());
  const layout = columns.addHeader(names);
  return { layout, cells: names.map((name) => (isRejectColumn(name) ? null : name)) };
}

function unreadableHeader(line: number, fault: string, advice: string): UserError {
  return new UserError(`The header, line ${line} of the file, cannot be read: ${fault}.`, advice);
}

function toRow(record: RawRecord, header: Header, delimiter: string): Row {
  const { line } = record;
  const width = header.cells.length;
  const { layout } = header;
  if (record.cells === null) {
    // The whole line is written behind the last column, where nobody takes it for values.
    const source = [...Array<string>(width).fill(""), record.text];
    return { line, cells: [], layout: noLayout, fault: record.fault, source };
  }
  const cells = record.cells.length === width ? record.cells : fit(record.cells, width, delimiter);
  return { line, cells, layout, fault: faultOf(cells, header, delimiter), source: cells };
}

function faultOf(cells: readonly string[], header: Header, delimiter: string): string | null {
  const width = header.cells.length;
  if (cells.length === width) {
    const isHeader = header.cells.every((name, place) => name === null || cells[place]?.trim() === name);
    return isHeader ? "it is the header once more, as in files that were joined" : null;
  }
  const named = delimiter === "\t" ? "a tab" : `a ${delimiter}`;
  const hint = cells.length > width ? `; perhaps a value with ${named} in it is not quoted` : "";
  return `the header has ${width} cells, and this row ${cells.length}${hint}`;
}

/** Returns the same row, or its fault if it holds what no lead may hold. */
function withoutNul(row: Row): Row {
  const holdsNul = row.fault === null && row.cells.some((cell) => typeof cell === "string" && cell.includes("\0"));
  return holdsNul ? { ...row, fault: "it holds a NUL" } : row;
}

/** Makes a record fit the header, if its cells are there. */
function fit(cells: readonly string[], width: number, delimiter: string): readonly string[] {
  const [whole = ""] = cells;
  // A spreadsheet that expects another delimiter takes a line for one cell, and puts it into quotes again.
  const inside =
    cells.length === 1 && !whole.includes("\n") ? scanRecords(whole, delimiter, 1, true).records[0]?.cells : null;
  if (inside?.length === width) return inside;
  // Some programs end every row with a delimiter more than the header.
  const isBlankBehind = cells.length > width && cells.slice(width).every((cell) => cell.trim() === "");
  return isBlankBehind ? cells.slice(0, width) : cells;
}
