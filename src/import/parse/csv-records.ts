/** Records of CSV (RFC 4180). A damaged record costs its first line, and reading goes on at the next. */
import { largestRecord } from "../row.ts";

export type RawRecord =
  | { readonly line: number; readonly cells: readonly string[] }
  /** A record that is damaged, with its text. */
  | { readonly line: number; readonly cells: null; readonly text: string; readonly fault: string };

/** What a text holds: its records, and the beginning of one that goes on in the next text. */
interface Scanned {
  readonly records: readonly RawRecord[];
  readonly rest: string;
  /** The line on which the rest begins. */
  readonly line: number;
}

export const tooLarge = "it is larger than 1 MiB";

/** Reads the records of a text that begins on a line; of the last text, a record without an end is damaged. */
export function scanRecords(text: string, delimiter: string, firstLine: number, isLast: boolean): Scanned {
  const records = new QuotedRecords(text, delimiter);
  const found: RawRecord[] = [];
  let line = firstLine;
  let at = 0;
  while (at < text.length) {
    const newline = lineEnd(text, at);
    if (newline === text.length && !isLast) break;
    const first = text.slice(at, endOfLastCell(text, at, newline));
    const quoted = first.includes('"') ? records.read(at, newline, isLast) : null;
    if (quoted === "unfinished") break;
    if (quoted !== null) found.push({ line, cells: quoted.cells });
    else if (first !== "") found.push(lineRecord(first, delimiter, line));
    const end = quoted === null ? newline : quoted.end;
    line += 1 + newlinesIn(text, newline, end);
    at = end + 1;
  }
  return { records: found, rest: text.slice(at), line };
}

/** A line may end in CRLF. */
function endOfLastCell(text: string, from: number, newline: number): number {
  return newline > from && newline < text.length && text[newline - 1] === "\r" ? newline - 1 : newline;
}

/** Reads a record in one line: without quotes, with backslashes or blanks before them, or with stray ones. */
function lineRecord(text: string, delimiter: string, line: number): RawRecord {
  if (text.length > largestRecord) return { line, cells: null, text, fault: tooLarge };
  if (!text.includes('"')) return { line, cells: text.split(delimiter) };
  const escaped = text.includes('\\"') ? lenientCells(text, delimiter, contents.withBackslashes) : null;
  const cells = escaped ?? lenientCells(text, delimiter, contents.plain);
  return cells === null ? { line, cells, text, fault: "it has a quote that is not closed" } : { line, cells };
}

/** The cells of a record, and where its last line ends. */
interface Quoted {
  readonly cells: readonly string[];
  readonly end: number;
}

/** The records with quotes in a text. */
class QuotedRecords {
  /** A delimiter is looked for only behind the last one found: a text may be one column. */
  private nextDelimiter = -1;
  private nextQuote = -1;

  constructor(
    private readonly text: string,
    private readonly delimiter: string,
  ) {}

  /** Reads the record at a place, whose first line ends at another one; null if its quotes are not those of RFC 4180. */
  read(at: number, newline: number, isLast: boolean): Quoted | "unfinished" | null {
    const record = this.cellsFrom(at, newline);
    const isOpen = record === "open" || (record !== null && record.end === this.text.length);
    if (isOpen && !isLast && this.text.length - at <= largestRecord) return "unfinished";
    return record === "open" || record === null || record.end - at > largestRecord ? null : record;
  }

  private cellsFrom(at: number, newline: number): Quoted | "open" | null {
    const { text, delimiter } = this;
    const cells: string[] = [];
    let end = newline;
    for (let from = at; ; ) {
      // Some programs put a blank between a delimiter and a quote.
      const start = behindBlanks(text, from);
      const isQuoted = text[start] === '"';
      const close = isQuoted ? endOfQuoted(text, start) : this.endOfBare(from, end);
      if (typeof close !== "number") return close;
      cells.push(isQuoted ? unquoted(text.slice(start + 1, close - 1)) : text.slice(from, close));
      const to = isQuoted ? behindBlanks(text, close) : close;
      if (to > end) end = lineEnd(text, to);
      if (to >= endOfLastCell(text, at, end)) return { cells, end };
      if (text[to] !== delimiter) return null;
      from = to + 1;
    }
  }

  /** Returns the place behind a cell without quotes; null if a quote is in it. */
  private endOfBare(from: number, newline: number): number | null {
    if (this.nextDelimiter < from) this.nextDelimiter = place(this.text, this.delimiter, from);
    if (this.nextQuote < from) this.nextQuote = place(this.text, '"', from);
    const end = this.nextDelimiter < newline ? this.nextDelimiter : endOfLastCell(this.text, from, newline);
    return this.nextQuote < end ? null : end;
  }
}

/** Returns the next place of a letter, or the end of the text. */
function place(text: string, letter: string, from: number): number {
  const found = text.indexOf(letter, from);
  return found === -1 ? text.length : found;
}

function lineEnd(text: string, from: number): number {
  return place(text, "\n", from);
}

function newlinesIn(text: string, from: number, to: number): number {
  let count = 0;
  for (let at = lineEnd(text, from); at < to; at = lineEnd(text, at + 1)) count++;
  return count;
}

function behindBlanks(text: string, from: number): number {
  let at = from;
  while (text[at] === " ") at++;
  return at;
}

/** Returns the place behind the quote that closes a cell, if one does; a quote in it is written twice. */
function endOfQuoted(text: string, from: number): number | "open" {
  let close = text.indexOf('"', from + 1);
  while (close !== -1 && text[close + 1] === '"') close = text.indexOf('"', close + 2);
  return close === -1 ? "open" : close + 1;
}

function unquoted(cell: string): string {
  return cell.includes('"') ? cell.replaceAll('""', '"') : cell;
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
    const next = line.indexOf(delimiter, at);
    const end = next === -1 ? line.length : next;
    // A stray quote makes letters of all quotes in its cell, apart from those around it.
    const literal = line.slice(at, end).replace(/^"(.*)"$/, "$1");
    cells.push(value?.replace(pair, (two) => two.slice(-1)) ?? literal);
    at = value === undefined ? end : closed.lastIndex;
  }
  return cells;
}
