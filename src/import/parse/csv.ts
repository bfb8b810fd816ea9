/** CSV (RFC 4180) to rows: the first record is the header, and each further one must fit it. */
import { UserError } from "../../user-error.ts";
import { type Columns, isRejectColumn, type Layout, noLayout } from "../map/columns.ts";
import { maxRecordLength, maxRejectedLength, type Row, tooLarge } from "../row.ts";
import { endOfLine, indexOf, readLine, readRecord } from "./csv-record.ts";

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
const afterUnclosedQuote = "a quote above it is not closed, so it may be part of that record";

/** The end of a record is looked for within this length, so that one that is too large is rejected once. */
const maxScannedLength = 8 * maxRecordLength;

/** The lines of a record with a quote in the wrong place. */
interface Damage {
  /** The place after its last line. */
  readonly end: number;
  /** True if the last line has the quote that closes the record. Else it is the last one that may belong to it. */
  readonly isKnown: boolean;
  /** True if more text could show another end. */
  readonly isCut: boolean;
}

class CsvReader {
  private header: Header | null = null;
  /** The beginning of a record that continues in the next text. */
  private rest = "";
  private mayHoldNul = false;

  constructor(
    private readonly columns: Columns,
    private readonly delimiter: string,
    private line: number,
  ) {}

  /** Returns the rows that are complete with the next text. In the last one, a record without an end is damaged. */
  read(next: string, isLast: boolean): Row[] {
    const text = this.rest + next;
    // Few files have a NUL, and to look through each cell takes time.
    this.mayHoldNul = text.includes("\0");
    const rows: Row[] = [];
    let at = 0;
    while (at < text.length) {
      const end = this.takeRecord(text, at, isLast, rows);
      if (end === null) break;
      this.line += text.slice(at, end - 1).split("\n").length;
      at = end;
    }
    this.rest = text.slice(at);
    return rows;
  }

  /** Takes the record at a place. Returns the place after it, or null if the text does not reach that far. */
  private takeRecord(text: string, at: number, isLast: boolean, rows: Row[]): number | null {
    const newline = indexOf(text, "\n", at);
    const line = text.slice(at, endOfLine(text, newline));
    if (line.includes('"')) return this.takeQuoted(text, at, line, isLast, rows);
    const cells = line.length > maxRecordLength ? null : line.split(this.delimiter);
    if (line !== "") this.take(cells, line, rows);
    return newline + 1;
  }

  private takeQuoted(text: string, at: number, line: string, isLast: boolean, rows: Row[]): number | null {
    const next = indexOf(text, "\n", at) + 1;
    const record = readRecord(text, at, this.delimiter);
    if (record.end > text.length && !isLast && text.length - at < maxScannedLength) return null;
    // A record of several lines that does not fit the header may be several records, which a rejected row could not keep.
    const isLarge = record.end > next && record.end - at > maxRejectedLength;
    const isRecord = record.cells !== null && record.end - at <= maxScannedLength;
    if (isRecord && (!isLarge || record.cells.length === this.width)) {
      this.take(record.cells, text.slice(at, record.end), rows);
      return record.end;
    }
    return this.takeDamaged(text, at, line, isLast, rows);
  }

  /** Takes a line with a quote in the wrong place as the row that it is by itself, or rejects the record that it begins. */
  private takeDamaged(text: string, at: number, line: string, isLast: boolean, rows: Row[]): number | null {
    const next = indexOf(text, "\n", at) + 1;
    const alone = readLine(line, this.delimiter);
    // A quote among letters is one of them. After any other, the cell may continue on the next line.
    const isCertain = this.header === null || (alone.cells !== null && !alone.isDoubtful);
    const until = Math.max(next, text.lastIndexOf("\n", at + maxRecordLength) + 1);
    const lines = text.length > at + maxRecordLength ? text.slice(0, until) : text;
    const damage = isCertain ? null : this.findDamage(lines, next, alone.cells === null ? alone.before : 0);
    if (damage?.isCut === true && lines === text && !isLast) return null;
    if (this.header === null || damage === null || (alone.cells !== null && !damage.isKnown)) {
      this.take(alone.cells, line, rows);
      return next;
    }
    this.reject(text.slice(at, endOfLine(text, damage.end - 1)), damage.isKnown, this.header, rows);
    return damage.end;
  }

  /**
   * Looks for the end of a record that has an open cell, after some others, at the end of its first line. The quote that closes
   * the cell makes it known. Otherwise the lines up to the first quote that cannot close it, or all lines, may belong to it.
   */
  private findDamage(text: string, next: number, before: number): Damage {
    for (let from = next; ; ) {
      const rest = readRecord(text, from, this.delimiter, true);
      if (rest.cells !== null) return { end: rest.end, isKnown: true, isCut: rest.end > text.length };
      if (rest.end > text.length) return { end: indexOf(text, "\n", text.length - 1) + 1, isKnown: false, isCut: true };
      const line = text.lastIndexOf("\n", rest.end) + 1;
      if (rest.cell < line) return this.endBefore(text, line, rest.end, before + rest.before);
      from = indexOf(text, "\n", rest.end) + 1;
    }
  }

  /** Ends a record before the line of a quote that cannot close its cell, or after that line, which may be its last one. */
  private endBefore(text: string, line: number, quote: number, before: number): Damage {
    // Either this quote is a stray one, and the cell continues after it; or a quote is missing at a delimiter before it.
    const stray = readRecord(text, quote + 1, this.delimiter, true);
    const opening = readRecord(text, quote, this.delimiter);
    const isLast = stray.cells !== null && before + stray.cells.length === this.width;
    const isInLast = opening.cells !== null && before + 1 + opening.cells.length <= this.width;
    const end = Math.max(isLast ? stray.end : line, isInLast ? opening.end : line);
    return { end, isKnown: false, isCut: Math.max(stray.end, opening.end) > text.length };
  }

  /** Rejects a record. If its end is not known, each line that would fit the header is rejected too. */
  private reject(text: string, isKnown: boolean, header: Header, rows: Row[]): void {
    const lines = text.split(/\r?\n/).map((line, place) => {
      const cells = this.fit(readLine(line, this.delimiter).cells ?? []);
      return { line, number: this.line + place, row: cells.length === this.width ? this.rowOf(cells, header) : null };
    });
    let length = 0;
    const kept = lines.filter(({ line }, place) => (length += line.length + 1) <= maxRejectedLength || place === 0);
    const own = isKnown ? kept.length : kept.findLastIndex(({ line, row }) => line !== "" && row === null) + 1;
    const ownText = kept.slice(0, own).map(({ line }) => line);
    rows.push(this.damagedRow(ownText.join("\n"), text.length > maxRecordLength ? tooLarge : unclosedQuote));
    for (const { line, number, row } of lines.slice(own)) {
      if (line !== "") rows.push({ ...(row ?? this.damagedRow(line, "")), line: number, fault: afterUnclosedQuote });
    }
  }

  /** Takes a record as the header or as a row; without cells, a quote in it is not closed. */
  private take(cells: readonly string[] | null, text: string, rows: Row[]): void {
    const fault = text.length > maxRecordLength ? tooLarge : unclosedQuote;
    if (this.header === null) this.header = readHeader(this.line, cells, fault, this.columns);
    else if (cells === null || fault === tooLarge) rows.push(this.damagedRow(text, fault));
    else rows.push(this.rowOf(this.fit(cells), this.header));
  }

  private rowOf(cells: readonly string[], header: Header): Row {
    return { line: this.line, cells, layout: header.layout, fault: this.faultOf(cells, header), source: cells };
  }

  /** Returns a row whose text is written after the last column, where nobody takes it for values. */
  private damagedRow(text: string, fault: string): Row {
    const source = [...Array<string>(this.width).fill(""), text.slice(0, maxRejectedLength)];
    return { line: this.line, cells: [], layout: noLayout, fault, source };
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
    const inside = isLine ? readLine(whole, this.delimiter).cells : null;
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
function readHeader(line: number, cells: readonly string[] | null, fault: string, columns: Columns): Header {
  const refusal = (fault: string, advice: string) =>
    new UserError(`The header, line ${line} of the file, cannot be read: ${fault}.`, advice);
  if (cells === null) {
    throw refusal(fault, "Correct that line, and import the file again.");
  }
  if (cells.some((cell) => cell.includes("\0"))) {
    throw refusal("it holds a NUL, as no text does", "Unpack the file, or save its table as CSV.");
  }
  const names = cells.map((cell) => cell.trim());
  const layout = columns.addHeader(names);
  return { layout, cells: names.map((name) => (isRejectColumn(name) ? null : name)) };
}
