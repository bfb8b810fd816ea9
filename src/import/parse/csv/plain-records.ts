/** Records of CSV that are plain, as most of every file are: they are taken apart in a fifth of the time of a parser. */
import { largestRecord } from "../../row.ts";
import type { PlainRecord, RawRecord } from "./record-reader.ts";

/** The records at the beginning of a text. */
export interface Beginning {
  readonly records: readonly RawRecord[];
  /** The text behind them; empty when all was read. */
  readonly rest: string;
  /** The line on which the rest begins. */
  readonly line: number;
}

interface PlainBeginning extends Beginning {
  readonly records: readonly PlainRecord[];
}

/** Reads the records of whole lines up to the first one that has more than a line, or quotes in the wrong place. */
export function readPlain(text: string, delimiter: string, firstLine: number): PlainBeginning {
  const records: PlainRecord[] = [];
  let line = firstLine;
  for (let at = 0; at < text.length; line++) {
    const newline = text.indexOf("\n", at);
    const end = newline === -1 ? text.length : newline;
    // A line may end in CRLF.
    const isOfTwo = newline > at && text[newline - 1] === "\r";
    const cells = cellsOf(text.slice(at, isOfTwo ? end - 1 : end), delimiter);
    if (cells === null) return { records, rest: text.slice(at), line };
    if (cells.length > 0) records.push({ line, cells });
    at = end + 1;
  }
  return { records, rest: "", line };
}

/** The cells of a line, none of an empty one; null when a parser has to look at it. */
function cellsOf(line: string, delimiter: string): readonly string[] | null {
  if (line === "") return [];
  if (line.length > largestRecord / 4) return null;
  return line.includes('"') ? quotedCells(line, delimiter) : line.split(delimiter);
}

function quotedCells(line: string, delimiter: string): readonly string[] | null {
  const cells: string[] = [];
  let quote = line.indexOf('"');
  for (let at = 0; ; at++) {
    const isQuoted = at === quote;
    const end = isQuoted ? endOfQuoted(line, at) : endOfBare(line, at, delimiter, quote);
    if (end === null || (end < line.length && line[end] !== delimiter)) return null;
    cells.push(isQuoted ? unquoted(line.slice(at + 1, end - 1)) : line.slice(at, end));
    if (end === line.length) return cells;
    if (isQuoted) quote = line.indexOf('"', end);
    at = end;
  }
}

/** The place behind the quote that closes a cell; a quote in it is written twice. */
function endOfQuoted(line: string, from: number): number | null {
  let close = line.indexOf('"', from + 1);
  while (close !== -1 && line[close + 1] === '"') close = line.indexOf('"', close + 2);
  return close === -1 ? null : close + 1;
}

/** The place behind a cell without quotes; null where the next quote, if there is one, stands in it. */
function endOfBare(line: string, from: number, delimiter: string, quote: number): number | null {
  const found = line.indexOf(delimiter, from);
  const end = found === -1 ? line.length : found;
  return quote !== -1 && quote < end ? null : end;
}

function unquoted(cell: string): string {
  return cell.includes('"') ? cell.replaceAll('""', '"') : cell;
}
