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

/** Reads UTF-8 in whole lines; the first record is the header. */
export async function* readCsv(
  chunks: AsyncIterable<Buffer>,
  columns: Columns,
  delimiter: string,
  firstLine: number,
): AsyncGenerator<Row[]> {
  const reader = new CsvReader(columns, delimiter, firstLine);
  for await (const chunk of chunks) yield reader.read(chunk.toString("utf8"), false);
  yield reader.read("", true);
}

const unclosedQuote = "it has a quote that is not closed";

/** A record with a quote in the wrong place. It ends where the quote is closed, or before a line that fits the header. */
interface Damaged {
  readonly line: number;
  /** The text of its lines, as far as a rejected row keeps it. */
  readonly text: string;
  readonly length: number;
  readonly isOpen: boolean;
}

class CsvReader {
  private header: Header | null = null;
  private damaged: Damaged | null = null;
  /** The beginning of a record that continues in the next text. */
  private rest = "";
  /** Whether the rest of a line that is too long to be a record is skipped. */
  private isSkipping = false;
  private mayHoldNul = false;

  constructor(
    private readonly columns: Columns,
    private readonly delimiter: string,
    private line: number,
  ) {}

  /** Returns the rows that are complete with the next text. In the last one, a record without an end is damaged. */
  read(next: string, isLast: boolean): Row[] {
    const text = this.rest + this.skipLongLine(next);
    // Few files have a NUL, and to look through each cell takes time.
    this.mayHoldNul = text.includes("\0");
    const records = new QuotedRecords(text, this.delimiter);
    const rows: Row[] = [];
    for (let at = 0; at < text.length; ) {
      const newline = lineEnd(text, at);
      this.isSkipping = newline === text.length && !isLast && newline - at > maxRecordLength;
      const line = text.slice(at, endOfLastCell(text, at, newline));
      const quoted = line.includes('"') && !this.isSkipping ? records.read(at, newline, this.width, isLast) : null;
      if (quoted === "unfinished" || (newline === text.length && !isLast && !this.isSkipping)) {
        this.rest = text.slice(at);
        return rows;
      }
      const end = this.take(line, quoted, rows) ? (quoted?.end ?? newline) : newline;
      if (!this.isSkipping) this.line += 1 + newlinesIn(text, newline, end);
      at = end + 1;
    }
    this.rest = "";
    if (isLast) this.endDamaged(rows);
    return rows;
  }

  private skipLongLine(text: string): string {
    if (!this.isSkipping) return text;
    const end = text.indexOf("\n") + 1;
    this.isSkipping = end === 0;
    if (!this.isSkipping) this.line++;
    return this.isSkipping ? "" : text.slice(end);
  }

  /** Takes the record that begins with a line. Returns false if the line alone is taken, as one of a damaged record. */
  private take(line: string, quoted: Quoted | null, rows: Row[]): boolean {
    const found = quoted?.cells ?? cellsOfLine(line, this.delimiter);
    const cells = found === null ? null : this.fit(found);
    if (this.continuesDamaged(line, cells, rows)) return false;
    if (line === "") return true;
    if (this.header === null) this.header = readHeader(this.line, found, line, this.columns);
    else if (quoted?.large !== undefined) rows.push(this.damagedRow(this.line, quoted.large, tooLarge));
    else if (cells === null || (quoted === null && cells.length !== this.width && hasOpenQuote(line))) {
      this.damaged = { line: this.line, text: kept(line), length: line.length, isOpen: hasOpenQuote(line) };
    } else {
      const fault = faultOf(cells, this.header, this.delimiter) ?? this.faultOfText(cells);
      rows.push({ line: this.line, cells, layout: this.header.layout, fault, source: cells });
    }
    return true;
  }

  private continuesDamaged(line: string, cells: readonly string[] | null, rows: Row[]): boolean {
    if (this.damaged === null) return false;
    const { text, length, isOpen } = this.damaged;
    const isLastLine = isOpen && hasOpenQuote(line);
    const isPart = isLastLine || cells?.length !== this.width;
    if (isPart) this.damaged = { ...this.damaged, text: kept(`${text}\n${line}`), length: length + 1 + line.length };
    if (isLastLine || !isPart) this.endDamaged(rows);
    return isPart;
  }

  private faultOfText(cells: readonly string[]): string | null {
    return this.mayHoldNul && cells.some((cell) => cell.includes("\0")) ? "it holds a NUL" : null;
  }

  private endDamaged(rows: Row[]): void {
    if (this.damaged === null) return;
    const { line, text, length } = this.damaged;
    rows.push(this.damagedRow(line, text, length > maxRecordLength ? tooLarge : unclosedQuote));
    this.damaged = null;
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
    const inside = cells.length === 1 && !whole.includes("\n") ? cellsIn(whole, this.delimiter) : null;
    if (inside?.length === width) return inside;
    // Some programs end every row with a delimiter more than the header.
    const isBlankAtEnd = cells.length > width && cells.slice(width).every((cell) => cell.trim() === "");
    return isBlankAtEnd ? cells.slice(0, width) : cells;
  }
}

/** Reads the header. Throws a UserError if it cannot be read: the line after it is none. */
function readHeader(line: number, cells: readonly string[] | null, text: string, columns: Columns): Header {
  if (cells === null) {
    const fault = text.length > maxRecordLength ? tooLarge : unclosedQuote;
    throw unreadableHeader(line, fault, "Correct that line, and import the file again.");
  }
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

function kept(text: string): string {
  return text.length > maxRejectedLength ? text.slice(0, maxRejectedLength) : text;
}

function hasOpenQuote(line: string): boolean {
  return line.includes('"') && line.split('"').length % 2 === 0;
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

/** The cells of a record, and the end of its last line. */
interface Quoted {
  readonly cells: readonly string[];
  readonly end: number;
  /** The text of a record that is too large. */
  readonly large?: string;
}

/** An unclosed quote takes in the records after it, so this is how far its end is looked for. */
const maxScannedLength = 8 * maxRecordLength;

/** The records with quotes in a text. */
class QuotedRecords {
  /** A delimiter is looked for only after the last one found: a text may be one column. */
  private nextDelimiter = -1;
  private nextQuote = -1;

  constructor(
    private readonly text: string,
    private readonly delimiter: string,
  ) {}

  /**
   * Reads the record at a place, whose first line ends at another one. Returns null if its quotes are not those of RFC 4180, or
   * if it is too large and does not fit the header: then its quotes may be those of several records.
   */
  read(at: number, newline: number, width: number, isLast: boolean): Quoted | "unfinished" | null {
    const record = this.cellsFrom(at, newline);
    const isOpen = record === "open" || (record !== null && record.end === this.text.length);
    if (isOpen && !isLast && this.text.length - at <= maxScannedLength) return "unfinished";
    if (record === "open" || record === null) return null;
    if (record.end - at <= maxRecordLength) return record;
    return record.cells.length === width ? { ...record, large: this.text.slice(at, record.end) } : null;
  }

  private cellsFrom(at: number, newline: number): Quoted | "open" | null {
    const { text, delimiter } = this;
    const cells: string[] = [];
    let end = newline;
    for (let from = at; ; ) {
      // Some programs put a blank between a delimiter and a quote.
      const start = afterBlanks(text, from);
      const isQuoted = text[start] === '"';
      const close = isQuoted ? endOfQuoted(text, start) : this.endOfBare(from, end);
      if (typeof close !== "number") return close;
      cells.push(isQuoted ? unquoted(text.slice(start + 1, close - 1)) : text.slice(from, close));
      const to = isQuoted ? afterBlanks(text, close) : close;
      if (to > end) end = lineEnd(text, to);
      if (to >= endOfLastCell(text, at, end)) return { cells, end };
      if (text[to] !== delimiter) return null;
      from = to + 1;
    }
  }

  /** Returns the end of a cell without quotes; null if a quote is in it. */
  private endOfBare(from: number, newline: number): number | null {
    if (this.nextDelimiter < from) this.nextDelimiter = indexOf(this.text, this.delimiter, from);
    if (this.nextQuote < from) this.nextQuote = indexOf(this.text, '"', from);
    const end = this.nextDelimiter < newline ? this.nextDelimiter : endOfLastCell(this.text, from, newline);
    return this.nextQuote < end ? null : end;
  }
}

/** Returns the next place of a letter, or the end of the text. */
function indexOf(text: string, letter: string, from: number): number {
  const found = text.indexOf(letter, from);
  return found === -1 ? text.length : found;
}

function lineEnd(text: string, from: number): number {
  return indexOf(text, "\n", from);
}

/** A line may end in CRLF. */
function endOfLastCell(text: string, from: number, newline: number): number {
  return newline > from && newline < text.length && text[newline - 1] === "\r" ? newline - 1 : newline;
}

function newlinesIn(text: string, from: number, to: number): number {
  let count = 0;
  for (let at = lineEnd(text, from); at < to; at = lineEnd(text, at + 1)) count++;
  return count;
}

function afterBlanks(text: string, from: number): number {
  let at = from;
  while (text[at] === " ") at++;
  return at;
}

/** Returns the end of a cell in quotes, if one closes it; a quote in it is written twice. */
function endOfQuoted(text: string, from: number): number | "open" {
  let close = text.indexOf('"', from + 1);
  while (close !== -1 && text[close + 1] === '"') close = text.indexOf('"', close + 2);
  return close === -1 ? "open" : close + 1;
}

function unquoted(cell: string): string {
  return cell.includes('"') ? cell.replaceAll('""', '"') : cell;
}

/** Returns the cells of a text that is one record; null if a quote is not closed. */
function cellsIn(text: string, delimiter: string): readonly string[] | null {
  const quoted = text.includes('"') ? new QuotedRecords(text, delimiter).read(0, text.length, 0, true) : null;
  return quoted === null || quoted === "unfinished" ? cellsOfLine(text, delimiter) : quoted.cells;
}

/** Returns the cells of a line without quotes, with backslashes or blanks before them, or with stray ones. */
function cellsOfLine(text: string, delimiter: string): readonly string[] | null {
  if (text.length > maxRecordLength) return null;
  if (!text.includes('"')) return text.split(delimiter);
  const escaped = text.includes('\\"') ? lenientCells(text, delimiter, contents.withBackslashes) : null;
  return escaped ?? lenientCells(text, delimiter, contents.plain);
}

/** The content of a cell in quotes. Ordinary letters are matched in runs: one by one, a long cell took 50 times as long. */
const contents = {
  plain: '[^"]*(?:""[^"]*)*',
  withBackslashes: String.raw`[^"\\]*(?:(?:""|\\["\\]|\\(?!["\\]))[^"\\]*)*`,
};

/** Returns the cells of a line with stray quotes; null if one is not closed. Blanks around a cell in quotes are left out. */
function lenientCells(line: string, delimiter: string, content: string): readonly string[] | null {
  const closed = new RegExp(` *"(${content})" *(?=${RegExp.escape(delimiter)}|$)`, "y");
  const open = new RegExp(` *"${content}$`, "y");
  const pair = content === contents.plain ? /""/g : /""|\\["\\]/g;
  const cells: string[] = [];
  for (let at = 0; at <= line.length; at++) {
    closed.lastIndex = at;
    open.lastIndex = at;
    const value = closed.exec(line)?.[1];
    if (value === undefined && open.test(line)) return null;
    const end = indexOf(line, delimiter, at);
    // A stray quote makes letters of all quotes in its cell, apart from those around it.
    const literal = line.slice(at, end).replace(/^"(.*)"$/, "$1");
    cells.push(value?.replace(pair, (two) => two.slice(-1)) ?? literal);
    at = value === undefined ? end : closed.lastIndex;
  }
  return cells;
}
