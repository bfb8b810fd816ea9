/** CSV by csv-parse, with one thing added: a damaged record costs its line, and reading goes on at the next. */
import { type Options, Parser } from "csv-parse";
import { parse } from "csv-parse/sync";
import { systemCode } from "../../../operator/system-code.ts";
import { mostColumns } from "../../map/columns/too-many-columns.ts";
import { largestRecord } from "../../row.ts";

const options = {
  bom: false,
  record_delimiter: ["\r\n", "\n"],
  relax_column_count: true,
  skip_empty_lines: true,
};

/** The parser looks this far ahead before it takes a record for ended; empty lines at the end satisfy it. */
const lookAhead = Buffer.from("\n".repeat(8));

export interface PlainRecord {
  /** The line on which it begins, from 1. */
  readonly line: number;
  readonly cells: readonly string[];
}

export type RawRecord =
  | PlainRecord
  /** A record that is damaged, with its text. */
  | { readonly line: number; readonly cells: null; readonly text: string; readonly fault: string };

/** Parses chunks synchronously; after a damaged record it begins anew behind the first line of it. */
export class RecordReader {
  private parser: Parser;
  /** What was given to this parser and belongs to no finished record yet. */
  private held: Buffer = Buffer.alloc(0);
  /** Where `held` begins in all that this parser was given. */
  private heldFrom = 0;
  private found: RawRecord[] = [];

  constructor(
    private readonly delimiter: string,
    private line: number,
  ) {
    this.parser = this.newParser();
  }

  read(chunk: Buffer): RawRecord[] {
    this.feed(chunk);
    return this.drain(false);
  }

  end(): RawRecord[] {
    this.feed(lookAhead);
    return this.drain(true);
  }

  /** What belongs to no finished record yet, and the line on which it begins. Another reader may go on there. */
  giveBack(): { readonly text: string; readonly line: number } {
    return { text: this.held.toString("utf8"), line: this.line };
  }

  private newParser(): Parser {
    const parser: Parser = new Parser({
      ...options,
      delimiter: this.delimiter,
      max_record_size: largestRecord,
      on_record: (cells: string[]) => {
        this.take(cells, parser.info.bytes - this.heldFrom);
        return null;
      },
    });
    // The error is read from the parser at once; its event comes too late to be of use.
    return parser.on("error", () => undefined);
  }

  private take(cells: string[], length: number): void {
    const text = this.held.subarray(0, length);
    this.found.push({ line: this.line + leadingNewlines(text), cells });
    this.line += countNewlines(text);
    this.held = this.held.subarray(length);
    this.heldFrom += length;
  }

  /** Rejects the first line of what is held, and reads on behind it. */
  private giveUpLine(error: Error | null, end: boolean): void {
    this.line += leadingNewlines(this.held);
    const held = this.held.subarray(leadingBytes(this.held));
    const length = held.indexOf(10) + 1 || held.length;
    const text = held.toString("utf8", 0, length).replace(/\r?\n$/, "");
    if (text !== "") this.found.push(rescue(this.line, text, this.delimiter, error));
    this.line += countNewlines(held.subarray(0, length));
    this.held = Buffer.alloc(0);
    this.heldFrom = 0;
    this.parser = this.newParser();
    const rest = held.subarray(length);
    if (rest.length > 0) this.feed(rest);
    if (end && this.held.length > 0) this.feed(lookAhead);
  }

  private feed(bytes: Buffer): void {
    this.held = this.held.length === 0 ? bytes : Buffer.concat([this.held, bytes]);
    this.parser.write(bytes);
  }

  private drain(end: boolean): RawRecord[] {
    while (this.parser.errored !== null || (end && hasText(this.held))) this.giveUpLine(this.parser.errored, end);
    const records = this.found;
    this.found = [];
    return records;
  }
}

/** A line is still good when its cells are plain to see: with blanks or a backslash before quotes, or a stray quote. */
function rescue(line: number, text: string, delimiter: string, error: Error | null): RawRecord {
  if (error !== null && isTooLarge(error)) return { line, cells: null, text, fault: "it is larger than 1 MiB" };
  const escaped = text.includes('\\"') ? onlyRecord(text, { delimiter, escape: "\\" }) : null;
  const spaced = text.includes(`${delimiter} "`) ? onlyRecord(text, { delimiter, trim: true }) : null;
  const cells = escaped ?? spaced ?? (error === null ? null : strayQuotes(text, delimiter));
  if (cells !== null) return { line, cells };
  return { line, cells: null, text, fault: "it has a quote that is not closed" };
}

/** The cells of a line, where a stray quote is a letter. To the parser the quotes around its cell are letters then, too. */
function strayQuotes(text: string, delimiter: string): readonly string[] | null {
  const isWritten = (cell: string) => text.includes(`"${cell.replaceAll('"', '""')}"`);
  const bare = (cell: string) => (/^".*"$/.test(cell) && !isWritten(cell) ? cell.slice(1, -1) : cell);
  const cells = onlyRecord(text, { delimiter, relax_quotes: true });
  // The text is looked through for each cell. A row with more of them than any header is rejected, whatever they hold.
  return cells === null || cells.length > mostColumns ? cells : cells.map(bare);
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
  return systemCode(error) === "CSV_MAX_RECORD_SIZE";
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
