/** CSV (RFC 4180) to rows: the first record is the header, and each further one must fit it. */
import { UserError } from "../../user-error.ts";
import { type Columns, isRejectColumn, type Layout, noLayout } from "../map/columns.ts";
import { maxRecordLength, maxRejectedLength, type Row, tooLarge } from "../row.ts";

/** The header of a file. */
interface Header {
  readonly layout: Layout;
  /** Its cells, trimmed; null for the columns of a rejects file, which have values in a row that repeats the header. */
  readonly cells: readonly (string | null)[];
}

/** Reads text in whole lines; the first record is the header. */
export async function* readCsv(
  texts: AsyncIterable<string>,
  columns: Columns,
  delimiter: string,
  firstLine: number,
): AsyncGenerator<Row[]> {
  const reader = new CsvReader(columns, delimiter, firstLine);
  for await (const text of texts) yield reader.read(text, false);
  yield reader.read("", true);
}

const unclosedQuote = "it has a quote that is not closed";

/** A quote that is not closed takes in the records after it, so this is how far its end is looked for. */
const maxScannedLength = 8 * maxRecordLength;

/** A record with a quote in the wrong place. It ends where the quote is closed, or before a line that fits the header. */
interface Damaged {
  readonly line: number;
  /** The text of its lines, as far as a rejected row keeps it. */
  readonly text: string;
  readonly length: number;
  readonly isOpen: boolean;
  /** The rows that its lines are if no later line closes the quote; null if its first line fits the header in no case. */
  readonly rows: Row[] | null;
}

/** A record of one line or more whose quotes are those of RFC 4180. */
interface Quoted {
  readonly text: string;
  readonly lines: number;
  /** The end of its last line in the text that is read. */
  readonly end: number;
  readonly cells: readonly string[];
}

class CsvReader {
  private header: Header | null = null;
  private damaged: Damaged | null = null;
  /** The beginning of a record that continues in the next text. */
  private rest = "";
  /** True while the rest of a line that is too long to be a record is skipped. */
  private isSkipping = false;
  private mayHoldNul = false;
  private readonly cellsOf: ReturnType<typeof cellReader>;

  constructor(
    private readonly columns: Columns,
    private readonly delimiter: string,
    private line: number,
  ) {
    this.cellsOf = cellReader(delimiter);
  }

  /** Returns the rows that are complete with the next text. In the last one, a record without an end is damaged. */
  read(next: string, isLast: boolean): Row[] {
    const text = this.rest + this.skipLongLine(next);
    // Few files have a NUL, and to look through each cell takes time.
    this.mayHoldNul = text.includes("\0");
    const rows: Row[] = [];
    for (let at = 0; at < text.length; ) {
      const newline = indexOf(text, "\n", at);
      const isCut = newline === text.length && !isLast;
      this.isSkipping = isCut && newline - at > maxRecordLength;
      const line = lineAt(text, at, newline);
      const quoted = isCut || line.includes('"') ? this.quotedRecord(text, at, newline, isLast) : null;
      if (quoted === "unfinished") {
        this.rest = text.slice(at);
        return rows;
      }
      const record = this.take(line, quoted, rows) ? quoted : null;
      if (!this.isSkipping) this.line += record?.lines ?? 1;
      at = (record?.end ?? newline) + 1;
    }
    this.rest = "";
    if (isLast) this.endDamaged(rows, false);
    return rows;
  }

  private skipLongLine(text: string): string {
    if (!this.isSkipping) return text;
    const end = text.indexOf("\n") + 1;
    this.isSkipping = end === 0;
    if (!this.isSkipping) this.line++;
    return this.isSkipping ? "" : text.slice(end);
  }

  /**
   * Returns the record with quotes at a place, whose first line ends at another one. Null if its quotes are not those of RFC
   * 4180, or if it is too large and does not fit the header: then its quotes may be those of several records.
   */
  private quotedRecord(text: string, at: number, newline: number, isLast: boolean): Quoted | "unfinished" | null {
    if (newline === text.length && !isLast) return this.isSkipping ? null : "unfinished";
    let end = newline;
    let isOpen = hasOpenQuote(text.slice(at, newline));
    while (isOpen && end < text.length) {
      const quote = indexOf(text, '"', end);
      end = indexOf(text, "\n", quote);
      isOpen = !hasOpenQuote(text.slice(quote, end));
    }
    if (end === text.length && !isLast && end - at <= maxScannedLength) return "unfinished";
    const record = lineAt(text, at, end);
    const cells = isOpen ? null : this.cellsOf.strictly(record);
    const isLarge = record.length > maxRecordLength;
    if (cells === null || (isLarge && cells.length !== this.width)) return null;
    return { text: record, lines: record.split("\n").length, end, cells };
  }

  /** Takes the record that begins with a line. Returns false if the line alone is taken, as one of a damaged record. */
  private take(line: string, quoted: Quoted | null, rows: Row[]): boolean {
    const found = quoted?.cells ?? this.cellsOf.leniently(line);
    const cells = found === null ? null : this.fit(found);
    if (this.damaged !== null && this.continues(this.damaged, line, cells, quoted !== null, rows)) return false;
    if (line === "") return true;
    if (this.header === null) this.header = readHeader(this.line, found, line, this.columns);
    else if (quoted !== null && quoted.text.length > maxRecordLength) {
      rows.push(this.damagedRow(this.line, quoted.text, tooLarge));
    } else if (quoted === null && (cells === null || hasOpenQuote(line))) {
      const isOpen = hasOpenQuote(line);
      const row = cells?.length === this.width ? [this.rowOf(line, cells)] : null;
      this.damaged = { line: this.line, text: kept(line), length: line.length, isOpen, rows: row };
    } else rows.push(this.rowOf(line, cells));
    return true;
  }

  /** Returns whether a line is one of a damaged record, which ends otherwise. */
  private continues(
    damaged: Damaged,
    line: string,
    cells: readonly string[] | null,
    isQuoted: boolean,
    rows: Row[],
  ): boolean {
    const closes = damaged.isOpen && hasOpenQuote(line);
    if (cells?.length === this.width && (isQuoted || damaged.rows !== null || !closes)) {
      this.endDamaged(rows, false);
      return false;
    }
    const length = damaged.length + 1 + line.length;
    this.damaged = { ...damaged, text: kept(`${damaged.text}\n${line}`), length };
    if (line !== "") damaged.rows?.push(this.rowOf(line, cells));
    if (closes || (damaged.rows !== null && length > maxRecordLength)) this.endDamaged(rows, closes);
    return true;
  }

  private endDamaged(rows: Row[], isClosed: boolean): void {
    if (this.damaged === null) return;
    const { line, text, length, rows: others } = this.damaged;
    const fault = length > maxRecordLength ? tooLarge : unclosedQuote;
    for (const row of (isClosed ? null : others) ?? [this.damagedRow(line, text, fault)]) rows.push(row);
    this.damaged = null;
  }

  private rowOf(line: string, cells: readonly string[] | null): Row {
    if (cells === null || this.header === null) {
      return this.damagedRow(this.line, line, line.length > maxRecordLength ? tooLarge : unclosedQuote);
    }
    const fault = this.faultOf(cells, this.header);
    return { line: this.line, cells, layout: this.header.layout, fault, source: cells };
  }

  /** Returns a row whose text is written after the last column, where nobody takes it for values. */
  private damagedRow(line: number, text: string, fault: string): Row {
    const source = [...Array<string>(this.width).fill(""), kept(text)];
    return { line, cells: [], layout: noLayout, fault, source };
  }

  private get width(): number {
    return this.header?.cells.length ?? 0;
  }

  /** Makes a record fit the header, if its cells are there. */
  private fit(cells: readonly string[]): readonly string[] {
    const { width } = this;
    if (cells.length === width) return cells;
    const [whole = ""] = cells;
    // A spreadsheet that expects another delimiter takes a line for one cell, and puts it into quotes again.
    const isLine = cells.length === 1 && !whole.includes("\n");
    const inside = isLine ? (this.cellsOf.strictly(whole) ?? this.cellsOf.leniently(whole)) : null;
    if (inside?.length === width) return inside;
    // Some programs end every row with a delimiter more than the header.
    const isBlankAtEnd = cells.length > width && cells.slice(width).every((cell) => cell.trim() === "");
    return isBlankAtEnd ? cells.slice(0, width) : cells;
  }

  private faultOf(cells: readonly string[], header: Header): string | null {
    const { delimiter, width } = this;
    if (cells.length !== width) {
      const named = delimiter === "\t" ? "a tab" : `a ${delimiter}`;
      const hint = cells.length > width ? `; perhaps a value with ${named} in it is not quoted` : "";
      return `the header has ${width} cells, and this row ${cells.length}${hint}`;
    }
    if (header.cells.every((name, place) => name === null || cells[place]?.trim() === name)) {
      return "it is the header once more, as in files that were joined";
    }
    return this.mayHoldNul && cells.some((cell) => cell.includes("\0")) ? "it holds a NUL" : null;
  }
}

/** Reads the header. Throws a UserError if it cannot be read: the line after it is none. */
function readHeader(line: number, cells: readonly string[] | null, text: string, columns: Columns): Header {
  const refusal = (fault: string, advice: string) =>
    new UserError(`The header, line ${line} of the file, cannot be read: ${fault}.`, advice);
  if (cells === null) {
    const fault = text.length > maxRecordLength ? tooLarge : unclosedQuote;
    throw refusal(fault, "Correct that line, and import the file again.");
  }
  if (cells.some((cell) => cell.includes("\0"))) {
    throw refusal("it holds a NUL, as no text does", "Unpack the file, or save its table as CSV.");
  }
  const names = cells.map((cell) => cell.trim());
  const layout = columns.addHeader(names);
  return { layout, cells: names.map((name) => (isRejectColumn(name) ? null : name)) };
}

function kept(text: string): string {
  return text.length > maxRejectedLength ? text.slice(0, maxRejectedLength) : text;
}

/** Returns whether a text has an odd number of quotes. */
function hasOpenQuote(text: string): boolean {
  return text.includes('"') && text.split('"').length % 2 === 0;
}

/** Returns the next place of a letter, or the end of the text. */
function indexOf(text: string, letter: string, from: number): number {
  const found = text.indexOf(letter, from);
  return found === -1 ? text.length : found;
}

/** Returns a line, which may end in CRLF, without its end. */
function lineAt(text: string, from: number, newline: number): string {
  const isCrlf = newline > from && newline < text.length && text[newline - 1] === "\r";
  return text.slice(from, isCrlf ? newline - 1 : newline);
}

/** The content of a cell in quotes. Ordinary letters are matched in runs, which is 50 times as fast for a long cell. */
const contents = {
  plain: '[^"]*(?:""[^"]*)*',
  withBackslashes: String.raw`[^"\\]*(?:(?:""|\\["\\]|\\(?!["\\]))[^"\\]*)*`,
};

/** Returns what reads the cells of a record. */
function cellReader(delimiter: string) {
  const patternsOf = (content: string, pair: RegExp) => ({
    // Some programs put blanks around the quotes.
    closed: new RegExp(` *"(${content})" *(?=${RegExp.escape(delimiter)}|$)`, "y"),
    open: new RegExp(` *"${content}$`, "y"),
    pair,
  });
  const plain = patternsOf(contents.plain, /""/g);
  const withBackslashes = patternsOf(contents.withBackslashes, /""|\\["\\]/g);

  /** Returns the text of a cell in quotes, undefined for any other, and null if the quote is not closed. */
  function quotedCell(record: string, at: number, { closed, open, pair }: typeof plain): string | null | undefined {
    if (record[at] !== '"' && record[at] !== " ") return undefined;
    closed.lastIndex = at;
    open.lastIndex = at;
    const value = closed.exec(record)?.[1];
    if (value !== undefined) return value.replace(pair, (two) => two.slice(-1));
    return open.test(record) ? null : undefined;
  }

  /** Returns null if a quote is not closed, or a stray one is not accepted. */
  function read(record: string, pattern: typeof plain, acceptsStray: boolean): string[] | null {
    const cells: string[] = [];
    for (let at = 0; at <= record.length; at++) {
      const value = quotedCell(record, at, pattern);
      const end = typeof value === "string" ? pattern.closed.lastIndex : indexOf(record, delimiter, at);
      const literal = record.slice(at, end);
      if (value === null || (value === undefined && !acceptsStray && literal.includes('"'))) return null;
      // A stray quote makes letters of all quotes in its cell, apart from those around it.
      cells.push(value ?? literal.replace(/^"(.*)"$/, "$1"));
      at = end;
    }
    return cells;
  }

  return {
    /** Reads a record whose quotes are those of RFC 4180; null for any other. */
    strictly: (record: string) => read(record, plain, false),
    /** Reads a line without quotes, with backslashes before them, or with stray ones; null if a quote is not closed. */
    leniently(line: string): string[] | null {
      if (line.length > maxRecordLength) return null;
      if (!line.includes('"')) return line.split(delimiter);
      return (line.includes('\\"') ? read(line, withBackslashes, true) : null) ?? read(line, plain, true);
    },
  };
}
