/** CSV to rows. Most records are plain, and a parser reads the others. */
import type { Columns } from "../../map/columns/columns.ts";
import type { Row } from "../../row.ts";
import { type Header, readHeader } from "./header.ts";
import { fit, type TextRow } from "./misfits.ts";
import { readOdd } from "./odd-records.ts";
import { readPlain } from "./plain-records.ts";
import { type RawRecord, RecordReader } from "./record-reader.ts";

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
  /** There from the first record that is not plain until the parser is at the end of a record. */
  let parser: RecordReader | null = null;
  function* recordsIn(text: string): Generator<readonly RawRecord[]> {
    for (let rest = text; rest !== ""; ) {
      if (parser === null) {
        const plain = readPlain(rest, delimiter, line);
        ({ rest, line } = plain);
        yield plain.records;
      }
      if (rest === "") return;
      const odd = readOdd(rest, line, parser ?? new RecordReader(delimiter, line));
      ({ rest, line, parser } = odd);
      yield odd.records;
    }
  }
  const recordsLeft = (): readonly RawRecord[] => parser?.end() ?? [];
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
  yield rowsOf(recordsLeft());
}

function toRow(record: RawRecord, header: Header, delimiter: string): TextRow {
  const { line, cells } = record;
  const fits = cells?.length === header.length;
  const row = fits ? { line, cells, fault: null, source: cells } : fit(record, header.length, delimiter);
  if (row.fault !== null || !isHeader(row.cells, header)) return row;
  return { ...row, fault: "it is the header once more, as in files that were joined" };
}

/** Whether a row says the names of its columns. */
function isHeader(cells: readonly string[], header: Header): boolean {
  return header.every((name, position) => name === null || cells[position]?.trim() === name);
}

/** The same row, or its fault where it holds what no lead may hold. */
function withoutNul(row: TextRow): TextRow {
  const holdsNul = row.fault === null && row.cells.some((cell) => cell.includes("\0"));
  return holdsNul ? { ...row, fault: "it holds a NUL" } : row;
}
