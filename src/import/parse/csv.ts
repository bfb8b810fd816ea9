/**
 * CSV (RFC 4180) to rows: the first record is the header, and each further one must fit it. csv-parse was tried instead: with raw
 * texts and lines, it takes nine times as long, and one unclosed quote swallows the rest of the file.
 */
import { UserError } from "../../runtime/user-error.ts";
import { isRejectColumn } from "../map/column.ts";
import type { Columns } from "../map/columns.ts";
import type { Layout } from "../map/layout.ts";
import { maxRecordLength, maxRejectedLength, type ReadRow, type RejectedRow, tooLarge } from "../row.ts";
import { endOfLine, indexOf, readLine, readRecord } from "./csv-record.ts";

/** Reads text in whole lines; the first record is the header. */
export async function* readCsv(
  texts: AsyncIterable<string>,
  columns: Columns,
  delimiter: string,
  firstLine: number,
): AsyncGenerator<ReadRow[]> {
  const reader = new CsvReader(columns, delimiter, firstLine);
  for await (const text of texts) yield reader.read(text, false);
  yield reader.read("", true);
}

const unclosedQuote = "it has a quote that is not closed";
const partOfDamaged = "it is part of the previous record, which has a misplaced quote";

/** The end of a record is looked for within this length, so that one that is too large is rejected once. */
const maxScannedLength = 8 * maxRecordLength;

class CsvReader {
  /** The columns of the header; null until it is read. */
  private layout: Layout | null = null;
  /** The beginning of a record that continues in the next text. */
  private rest = "";
  private mayHoldNul = false;

  constructor(
    private readonly columns: Columns,
    private readonly delimiter: string,
    private line: number,
  ) {}

  /** Returns the rows that are complete with the next text. In the last one, a record without an end is damaged. */
  read(next: string, isLast: boolean): ReadRow[] {
    const text = this.rest + next;
    // Few files have a NUL, and to look through each cell takes time.
    this.mayHoldNul = text.includes("\0");
    const rows: ReadRow[] = [];
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

  /** Reads the record at an offset. Returns the offset after it, or null if more text is needed. */
  private takeRecord(text: string, at: number, isLast: boolean, rows: ReadRow[]): number | null {
    const next = indexOf(text, "\n", at) + 1;
    const line = text.slice(at, endOfLine(text, next - 1));
    if (!line.includes('"')) {
      const cells = line.length > maxRecordLength ? null : line.split(this.delimiter);
      if (line !== "") this.take(cells, line, rows);
      return next;
    }
    const record = readRecord(text, at, this.delimiter);
    const length = record.end - at;
    if (record.end > text.length && !isLast && text.length - at < maxScannedLength) return null;
    // A long multi-line record that does not match the header may be several records, and is too long for the rejects
    // file.
    const isLarge = record.end > next && length > maxRejectedLength;
    if (record.cells !== null && length <= maxScannedLength && (!isLarge || record.cells.length === this.width)) {
      this.take(record.cells, text.slice(at, record.end), rows);
      return record.end;
    }
    return this.takeDamaged(text, at, line, isLast, rows);
  }

  /**
   * Handles a line with a misplaced quote: accepts it as a row if it is complete, otherwise rejects the record that
   * begins there.
   */
  private takeDamaged(text: string, at: number, line: string, isLast: boolean, rows: ReadRow[]): number | null {
    const next = indexOf(text, "\n", at) + 1;
    const alone = readLine(line, this.delimiter);
    // A quote inside an unquoted cell is literal. A cell that begins with a quote may continue on the next line.
    const isCertain = this.layout === null || (alone.cells !== null && !alone.isDoubtful);
    const isLong = text.length > at + maxRecordLength;
    if (!isCertain && !isLong && !isLast) return null;
    const scanned = isLong ? text.slice(0, Math.max(next, text.lastIndexOf("\n", at + maxRecordLength) + 1)) : text;
    const closed = isCertain ? null : this.endAtClosingQuote(scanned, next);
    if (isCertain || (alone.cells !== null && closed === null)) {
      this.take(alone.cells, line, rows);
      return next;
    }
    const end = closed ?? this.endBeforeNextRow(scanned, at, next);
    rows.push(...this.damagedRows(text.slice(at, endOfLine(text, end - 1))));
    return end;
  }

  /** Returns the end of the record whose cell is still open at next; null if no quote closes it. */
  private endAtClosingQuote(text: string, next: number): number | null {
    for (let from = next; from <= text.length; ) {
      const rest = readRecord(text, from, this.delimiter, true);
      if (rest.cells !== null) return rest.end;
      const line = text.lastIndexOf("\n", rest.end) + 1;
      if (rest.end > text.length || rest.cell < line) return null;
      from = indexOf(text, "\n", rest.end) + 1;
    }
    return null;
  }

  /**
   * If no quote closes the record, it ends before the next line that matches the header. Otherwise everything up to the
   * next quote would be lost.
   */
  private endBeforeNextRow(text: string, at: number, next: number): number {
    let end = next;
    while (end < text.length && end - at <= maxRejectedLength) {
      const newline = indexOf(text, "\n", end);
      const line = text.slice(end, endOfLine(text, newline));
      const { cells } = readLine(line, this.delimiter);
      if (cells === null || (line !== "" && this.fit(cells).length === this.width)) return end;
      end = newline + 1;
    }
    return end;
  }

  /** Returns the rejected rows of a damaged record: one with as many lines as fit, then one for each remaining line. */
  private damagedRows(text: string): RejectedRow[] {
    let length = 0;
    const lines = text.split(/\r?\n/);
    const own = lines.filter((line, index) => (length += line.length + 1) <= maxRejectedLength || index === 0);
    const first = this.damaged(own.join("\n"), text.length > maxRecordLength ? tooLarge : unclosedQuote);
    const others = lines.flatMap((line, index) =>
      index < own.length || line === "" ? [] : this.damaged(line, partOfDamaged, this.line + index),
    );
    return [first, ...others];
  }

  /** Takes a record as the header or as a row; without cells, a quote in it is not closed. */
  private take(cells: readonly string[] | null, text: string, rows: ReadRow[]): void {
    const fault = text.length > maxRecordLength ? tooLarge : unclosedQuote;
    if (this.layout === null) this.layout = readHeader(this.line, cells, fault, this.columns);
    else if (cells === null || fault === tooLarge) rows.push(this.damaged(text, fault));
    else rows.push(this.rowOf(this.fit(cells), this.layout));
  }

  private rowOf(cells: readonly string[], layout: Layout): ReadRow {
    const reason = this.faultOf(cells, layout);
    return reason === null
      ? { line: this.line, cells, layout, source: cells }
      : { line: this.line, reason, source: cells };
  }

  /** Returns a rejected row. Its text is written after the last column, where it cannot be mistaken for a value. */
  private damaged(text: string, reason: string, line = this.line): RejectedRow {
    return { line, reason, source: [...Array<string>(this.width).fill(""), text.slice(0, maxRejectedLength)] };
  }

  private get width(): number {
    return this.layout?.columns.length ?? 0;
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

  private faultOf(cells: readonly string[], { columns }: Layout): string | null {
    const { delimiter, width } = this;
    if (cells.length !== width) {
      const other = cells.length === 1 ? otherDelimiter(cells[0] ?? "", width) : undefined;
      if (other !== undefined) {
        return `the cells of the header are separated by ${nameOf(delimiter)}, and those of this row by ${nameOf(other)}`;
      }
      const named = nameOf(delimiter);
      const hint = cells.length > width ? `; a value with ${named} may need quotes` : "";
      return `the header has ${width} cells, and this row ${cells.length}${hint}`;
    }
    if (columns.every(({ title }, index) => cells[index]?.trim() === title || isRejectColumn(title))) {
      return "it repeats the header, as in concatenated files";
    }
    return this.mayHoldNul && cells.some((cell) => cell.includes("\0")) ? "it contains a NUL" : null;
  }
}

const nameOf = (delimiter: string): string => (delimiter === "\t" ? "a tab" : `a ${delimiter}`);

/** Returns the delimiter by which a line has as many cells as the header. */
function otherDelimiter(line: string, width: number): string | undefined {
  return [",", ";", "\t", "|"].find((delimiter) => line.split(delimiter).length === width);
}

/** Reads the header. Throws a UserError if it cannot be read: no other line can replace it. */
function readHeader(line: number, cells: readonly string[] | null, fault: string, columns: Columns): Layout {
  const refusal = (fault: string, advice: string) =>
    new UserError(`The header, line ${line} of the file, cannot be read: ${fault}.`, advice);
  if (cells === null) {
    throw refusal(fault, "Correct that line, and import the file again.");
  }
  if (cells.some((cell) => cell.includes("\0"))) {
    throw refusal("it contains a NUL, so it is not text", "Unpack the file, or save its table as CSV.");
  }
  return columns.addHeader(cells.map((cell) => cell.trim()));
}
