/** CSV to rows: most records are plain, and the parser reads the others. */
import type { Columns } from "./columns.ts";
import { readPlain } from "./plain-csv.ts";
import { type RawRecord, RecordReader } from "./record-reader.ts";
import type { Row } from "./row.ts";

/** Reads UTF-8 in whole lines; the first record is the header. */
export async function* readCsv(
  chunks: AsyncIterable<Buffer>,
  columns: Columns,
  delimiter: string,
  firstLine: number,
): AsyncGenerator<Row[]> {
  const records = openRecords(delimiter, firstLine);
  let width: number | null = null;
  let holdsNul = false;
  function rowsOf(found: readonly RawRecord[]): Row[] {
    const rows: Row[] = [];
    for (const record of found) {
      if (width === null && record.cells !== null) width = readHeader(record.cells, columns);
      else rows.push(toRow(record, width ?? 0, delimiter));
    }
    return holdsNul ? rows.map(withoutNul) : rows;
  }
  for await (const chunk of chunks) {
    // A record may begin in one chunk and end in a later one.
    holdsNul ||= chunk.includes(0);
    for (const found of records.read(chunk)) yield rowsOf(found);
  }
  yield rowsOf(records.end());
}

/** The parser is given so much at first: most often the record that is not plain ends within that. */
const smallestPiece = 1024;
/** It is given more and more while nothing plain lies in between: to make a parser anew takes its time. */
const largestPiece = 64 * smallestPiece;

/** Reads records without the parser. Only a record that is not plain goes to it, and what lies in one piece with that. */
function openRecords(delimiter: string, firstLine: number) {
  let line = firstLine;
  /** Is there while it has begun a record and has not come to its end. */
  let parser: RecordReader | null = null;
  let piece = smallestPiece;

  /** Gives the parser a piece; the records that it found, and what it has not finished with all that follows. */
  function parse(text: string): { readonly found: readonly RawRecord[]; readonly rest: string } {
    const end = text.indexOf("\n", piece) + 1 || text.length;
    parser ??= new RecordReader(delimiter, line);
    const found = parser.read(Buffer.from(text.slice(0, end)));
    piece = Math.min(piece * 2, largestPiece);
    if (found.length === 0) return { found, rest: text.slice(end) };
    const left = parser.giveBack();
    line = left.line;
    parser = null;
    // Most often the parser gives back what it was given last, and nothing is copied.
    const isOfText = left.text.length <= end;
    return { found, rest: isOfText ? text.slice(end - left.text.length) : left.text + text.slice(end) };
  }

  return {
    *read(chunk: Buffer): Generator<readonly RawRecord[]> {
      for (let text = chunk.toString("utf8"); text !== ""; ) {
        if (parser === null) {
          const plain = readPlain(text, delimiter, line);
          yield plain.records;
          if (plain.records.length > 0) piece = smallestPiece;
          ({ line, rest: text } = plain);
        }
        if (text === "") return;
        const { found, rest } = parse(text);
        yield found;
        text = rest;
      }
    },
    end: (): readonly RawRecord[] => parser?.end() ?? [],
  };
}

function readHeader(names: readonly string[], columns: Columns): number {
  for (const [position, text] of names.entries()) {
    const name = text.trim() === "" ? `(column ${position + 1})` : text.trim();
    // The same name twice is two columns, which hold the same field.
    const unique = columns.names.includes(name) ? `${name} (${position + 1})` : name;
    columns.indexOf(unique, [text.trim()]);
  }
  columns.complete();
  return names.length;
}

function toRow(record: RawRecord, width: number, delimiter: string): Row {
  const { line, cells } = record;
  if (cells === null) {
    // The whole line goes behind the last column, where nobody takes it for values.
    return { line, cells: [], fault: record.fault, source: [...Array<string>(width).fill(""), record.text] };
  }
  // Some programs end every row with a delimiter more than the header.
  const blank = cells.length > width && cells.slice(width).every((cell) => cell.trim() === "");
  if (cells.length === width) return { line, cells, fault: null, source: cells };
  if (blank) return { line, cells, fault: null, source: cells.slice(0, width) };
  const named = delimiter === "\t" ? "a tab" : `a ${delimiter}`;
  const hint = cells.length > width ? `; perhaps a value with ${named} in it is not quoted` : "";
  const counted = `the header has ${width} cells, and this row ${cells.length}${hint}`;
  return { line, cells: [], fault: counted, source: cells };
}

/** The same row, or its fault where it holds what no lead may hold. */
function withoutNul(row: Row): Row {
  const holdsNul = row.fault === null && row.cells.some((cell) => typeof cell === "string" && cell.includes("\0"));
  return holdsNul ? { ...row, fault: "it holds a NUL" } : row;
}
