/** CSV to rows: most records are plain, and the parser reads the others. */
import { UserError } from "../../operator/user-error.ts";
import { type Columns, isRejectColumn } from "../columns/columns.ts";
import type { Row } from "../row.ts";
import type { RawRecord } from "./record-reader.ts";
import { openRecords, readPlain } from "./records.ts";

/** Reads UTF-8 in whole lines; the first record is the header. */
export async function* readCsv(
  chunks: AsyncIterable<Buffer>,
  columns: Columns,
  delimiter: string,
  firstLine: number,
): AsyncGenerator<Row[]> {
  let header: Header | null = null;
  let holdsNul = false;
  function rowsOf(found: readonly RawRecord[]): Row[] {
    const rows: Row[] = [];
    for (const record of found) {
      if (header === null) header = readHeader(record, columns);
      else rows.push(toRow(record, header, delimiter));
    }
    return holdsNul ? rows.map(withoutNul) : rows;
  }
  const records = openRecords(delimiter, firstLine);
  for await (const chunk of chunks) {
    // A record may begin in one chunk and end in a later one.
    holdsNul ||= chunk.includes(0);
    for (const found of records.read(chunk.toString("utf8"))) yield rowsOf(found);
  }
  yield rowsOf(records.end());
}

/** The cells of the header, trimmed. */
type Header = readonly string[];

/** Throws a UserError where the header cannot be read: the line behind it is none. */
function readHeader(record: RawRecord, columns: Columns): Header {
  const { line, cells } = record;
  if (cells === null) throw unreadableHeader(line, record.fault, "Mend that line, and import the file again.");
  if (cells.some((cell) => cell.includes("\0"))) {
    throw unreadableHeader(line, "it holds a NUL, as no text does", "Unpack the file, or save its table as CSV.");
  }
  const header = cells.map((cell) => cell.trim());
  for (const [position, text] of header.entries()) {
    const name = text === "" ? `(column ${position + 1})` : text;
    // The same name twice is two columns, which hold the same field.
    const unique = columns.names.includes(name) ? `${name} (${position + 1})` : name;
    columns.indexOf(unique, [text]);
  }
  columns.complete();
  return header;
}

function unreadableHeader(line: number, fault: string, advice: string): UserError {
  return new UserError(`The header, line ${line} of the file, cannot be read: ${fault}.`, advice);
}

function toRow(record: RawRecord, header: Header, delimiter: string): Row {
  const { line } = record;
  const width = header.length;
  if (record.cells === null) {
    // The whole line goes behind the last column, where nobody takes it for values.
    return { line, cells: [], fault: record.fault, source: [...Array<string>(width).fill(""), record.text] };
  }
  const cells = outOfOneCell(record.cells, width, delimiter);
  // Some programs end every row with a delimiter more than the header.
  const blank = cells.length > width && cells.slice(width).every((cell) => cell.trim() === "");
  const kept = blank ? cells.slice(0, width) : cells;
  if (kept.length === width) {
    const fault = isHeader(kept, header) ? "it is the header once more, as in files that were joined" : null;
    return { line, cells: kept, fault, source: kept };
  }
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
  if (cells.length !== 1 || width === 1 || line === undefined || line.includes("\n")) return cells;
  const inside = readPlain(line, delimiter, 1).records[0]?.cells;
  return inside?.length === width ? inside : cells;
}

/** Whether a row says the names of its columns. In a rejects file it has its line and reason beside them. */
function isHeader(cells: readonly string[], header: Header): boolean {
  return header.every((name, position) => cells[position]?.trim() === name || isRejectColumn(name));
}

/** The same row, or its fault where it holds what no lead may hold. */
function withoutNul(row: Row): Row {
  const holdsNul = row.fault === null && row.cells.some((cell) => typeof cell === "string" && cell.includes("\0"));
  return holdsNul ? { ...row, fault: "it holds a NUL" } : row;
}
