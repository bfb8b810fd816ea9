/** CSV by csv-parse, with one thing added: a damaged record costs its line, and reading goes on at the next. */
import { type Options, Parser } from "csv-parse";
import { parse } from "csv-parse/sync";
import type { Columns } from "./columns.ts";
import { type PlainRecord, readPlain } from "./plain-csv.ts";
import { largestRecord, type Row } from "./row.ts";

const options = {
  bom: false,
  record_delimiter: ["\r\n", "\n"],
  relax_column_count: true,
  skip_empty_lines: true,
};

/** The parser looks this far ahead before it takes a record for ended; empty lines at the end satisfy it. */
const lookAhead = Buffer.from("\n".repeat(8));

/** Reads UTF-8 in whole lines; the first record is the header. */
export async function* readCsv(
  chunks: AsyncIterable<Buffer>,
  columns: Columns,
  delimiter: string,
  firstLine: number,
): AsyncGenerator<Row[]> {
  let line = firstLine;
  /** From the first record on that is not plain to see. */
  let parsed: ReturnType<typeof createRecordReader> | null = null;
  let width: number | null = null;
  function* rowsOf(found: readonly RawRecord[]): Generator<Row> {
    for (const record of found) {
      if (width === null && record.cells !== null) width = readHeader(record.cells, columns);
      else yield toRow(record, width ?? 0, delimiter);
    }
  }
  for await (const chunk of chunks) {
    if (parsed !== null) {
      yield [...rowsOf(parsed.read(chunk))];
      continue;
    }
    const plain = readPlain(chunk.toString("utf8"), delimiter, line);
    yield [...rowsOf(plain.records)];
    line = plain.line;
    if (plain.rest === "") continue;
    parsed = createRecordReader(delimiter, line);
    yield [...rowsOf(parsed.read(Buffer.from(plain.rest)))];
  }
  if (parsed !== null) yield [...rowsOf(parsed.end())];
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
    // The whole line stands behind the last column, where it cannot be taken for values.
    return { line, cells: [], fault: record.fault, source: [...Array<string>(width).fill(""), record.text] };
  }
  // Some programs end every row with a delimiter more than the header.
  const blank = cells.length > width && cells.slice(width).every((cell) => cell.trim() === "");
  if (cells.length === width || blank) return { line, cells, fault: null, source: cells.slice(0, width) };
  const named = delimiter === "\t" ? "a tab" : `a ${delimiter}`;
  const hint = cells.length > width ? `; perhaps a value with ${named} in it is not quoted` : "";
  const counted = `the header has ${width} cells, and this row ${cells.length}${hint}`;
  return { line, cells: [], fault: counted, source: cells };
}

type RawRecord =
  | PlainRecord
  /** A record that is damaged, with its text. */
  | { readonly line: number; readonly cells: null; readonly text: string; readonly fault: string };

/** Parses chunks synchronously; after a damaged record it begins anew behind the first line of it. */
function createRecordReader(delimiter: string, firstLine: number) {
  let parser: Parser;
  /** What was given to this parser and belongs to no finished record yet. */
  let held: Buffer = Buffer.alloc(0);
  /** Where `held` begins in all that this parser was given. */
  let heldFrom = 0;
  let line = firstLine;
  let found: RawRecord[] = [];
  restart();

  function restart(): void {
    heldFrom = 0;
    parser = new Parser({
      ...options,
      delimiter,
      max_record_size: largestRecord,
      on_record(cells: string[]) {
        take(cells, parser.info.bytes - heldFrom);
        return null;
      },
    });
    // The error is read from the parser at once; its event comes too late to be of use.
    parser.on("error", () => undefined);
  }

  function take(cells: string[], length: number): void {
    const text = held.subarray(0, length);
    const before = leadingNewlines(text);
    found.push({ line: line + before, cells });
    line += countNewlines(text);
    held = held.subarray(length);
    heldFrom += length;
  }

  /** Gives up the first line of what is held, and reads on behind it. */
  function giveUpLine(error: Error | null, end: boolean): void {
    line += leadingNewlines(held);
    held = held.subarray(leadingBytes(held));
    const length = held.indexOf(10) + 1 || held.length;
    const text = held.toString("utf8", 0, length).replace(/\r?\n$/, "");
    if (text !== "") found.push(rescue(line, text, delimiter, error));
    line += countNewlines(held.subarray(0, length));
    const rest = held.subarray(length);
    held = Buffer.alloc(0);
    restart();
    if (rest.length > 0) feed(rest);
    if (end && held.length > 0) feed(lookAhead);
  }

  function feed(bytes: Buffer): void {
    held = held.length === 0 ? bytes : Buffer.concat([held, bytes]);
    parser.write(bytes);
  }

  function drain(end: boolean): RawRecord[] {
    while (parser.errored !== null || (end && hasText(held))) giveUpLine(parser.errored, end);
    const records = found;
    found = [];
    return records;
  }

  return {
    read(chunk: Buffer): RawRecord[] {
      feed(chunk);
      return drain(false);
    },
    end(): RawRecord[] {
      feed(lookAhead);
      return drain(true);
    },
  };
}

/** A line is still good when its cells are plain to see: with a backslash before quotes, or a stray quote as a letter. */
function rescue(line: number, text: string, delimiter: string, error: Error | null): RawRecord {
  if (error !== null && isTooLarge(error)) return { line, cells: null, text, fault: "it is larger than 1 MiB" };
  const escaped = text.includes('\\"') ? onlyRecord(text, { delimiter, escape: "\\" }) : null;
  const cells = escaped ?? (error === null ? null : onlyRecord(text, { delimiter, relax_quotes: true }));
  if (cells !== null) return { line, cells };
  return { line, cells: null, text, fault: "it has a quote that is not closed" };
}

/** The cells of a text that is one record, read in another way than the file; null for any other text. */
function onlyRecord(text: string, otherwise: Options): readonly string[] | null {
  try {
    // Without columns a record is a list of texts.
    const records = parse(text, { ...options, ...otherwise });
    return records.length === 1 ? (records[0] ?? null) : null;
  } catch {
    return null;
  }
}

function isTooLarge(error: Error): boolean {
  return "code" in error && error.code === "CSV_MAX_RECORD_SIZE";
}

function leadingBytes(text: Buffer): number {
  let at = 0;
  while (text[at] === 10 || text[at] === 13) at++;
  return at;
}

function leadingNewlines(text: Buffer): number {
  return countNewlines(text.subarray(0, leadingBytes(text)));
}

function countNewlines(text: Buffer): number {
  let count = 0;
  for (let at = text.indexOf(10); at !== -1; at = text.indexOf(10, at + 1)) count++;
  return count;
}

function hasText(text: Buffer): boolean {
  return leadingBytes(text) < text.length;
}
