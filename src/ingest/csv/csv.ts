/** CSV to rows. Most records are plain, and a parser reads the others. */
import { type Columns, isRejectColumn } from "../columns/columns.ts";
import type { Row } from "../row.ts";
import { type Header, readHeader } from "./header.ts";
import { fit, type TextRow } from "./misfits.ts";
import { openOddRecords } from "./odd-records.ts";
import { readPlain } from "./plain-records.ts";
import type { RawRecord } from "./record-reader.ts";

/** Reads UTF-8 in whole lines; the first record is the header. */
export async function* readCsv(
  chunks: AsyncIterable<Buffer>,
  columns: Columns,
  delimiter: string,
  firstLine: number,
): AsyncGenerator<Row[]> {
  let header: Header | null = null;
  let holdsNul = false;
  let line = firstLine;
  const odd = openOddRecords(delimiter);
  function* recordsIn(text: string): Generator<readonly RawRecord[]> {
    for (let rest = text; rest !== ""; ) {
      if (!odd.isWithin()) {
        const plain = readPlain(rest, delimiter, line);
        ({ rest, line } = plain);
        yield plain.records;
      }
      if (rest === "") return;
      const parsed = odd.read(rest, line);
      ({ rest, line } = parsed);
      yield parsed.records;
    }
  }
  function rowsOf(found: readonly RawRecord[]): Row[] {
    const rows: TextRow[] = [];
    for (const record of found) {
      if (header === null) header = readHeader(record, columns);
      else rows.push(toRow(record, header, delimiter));
    }
    return holdsNul ? rows.map(withoutNul) : rows;
  }
  for await (const chunk of chunks) {
    // A record may begin in one chunk and end in a later one.
    holdsNul ||= chunk.includes(0);
    for (const found of recordsIn(chunk.toString("utf8"))) yield rowsOf(found);
  }
  yield rowsOf(odd.end());
}

function toRow(record: RawRecord, header: Header, delimiter: string): TextRow {
  const { line, cells } = record;
  const fits = cells?.length === header.length;
  const row = fits ? { line, cells, fault: null, source: cells } : fit(record, header.length, delimiter);
  if (row.fault !== null || !isHeader(row.cells, header)) return row;
  return { ...row, fault: "it is the header once more, as in files that were joined" };
}

/** Whether a row says the names of its columns. In a rejects file it has its line and reason beside them. */
function isHeader(cells: readonly string[], header: Header): boolean {
  return header.every((name, position) => cells[position]?.trim() === name || isRejectColumn(name));
}

/** The same row, or its fault where it holds what no lead may hold. */
function withoutNul(row: TextRow): TextRow {
  const holdsNul = row.fault === null && row.cells.some((cell) => cell.includes("\0"));
  return holdsNul ? { ...row, fault: "it holds a NUL" } : row;
}
