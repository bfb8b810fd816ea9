/** The cells of one CSV record (RFC 4180), or the quote that is in the wrong place. */

interface CsvRecord {
  readonly cells: readonly string[];
  /** The offset after its last line. It is one past the end of a text without a final line feed. */
  readonly end: number;
  /** True if a cell that begins with a quote is read as letters: it may be one that continues on the next line. */
  readonly isDoubtful: boolean;
}

/** A record whose quotes are not those of RFC 4180. */
interface BrokenRecord {
  readonly cells: null;
  /** The offset of the cell with a quote that is stray or not closed. */
  readonly cell: number;
  /** The offset of the quote that is stray; infinite if no quote closes the cell. */
  readonly end: number;
}

/** Reads the record at a offset. With an open quote before it, it is the rest of a record whose last cell continues. */
export function readRecord(text: string, at: number, delimiter: string, isOpen = false): CsvRecord | BrokenRecord {
  return read(text, at, isOpen, { delimiter, quoting: doubled, acceptsStray: false });
}

/** Reads a line by itself, even with stray quotes or with backslashes before quotes. It is broken if a quote is not closed in it. */
export function readLine(line: string, delimiter: string): CsvRecord | BrokenRecord {
  const strict = readRecord(line, 0, delimiter);
  if (strict.cells !== null) return strict;
  const lenient = { delimiter, quoting: doubled, acceptsStray: true };
  const escaped = line.includes('\\"') ? read(line, 0, false, { ...lenient, quoting: withBackslashes }) : strict;
  return escaped.cells === null ? read(line, 0, false, lenient) : escaped;
}

/** Returns the next offset of a letter, or the end of the text. */
export function indexOf(text: string, letter: string, from: number): number {
  const found = text.indexOf(letter, from);
  return found === -1 ? text.length : found;
}

/** Returns the end of a line that ends in a line feed or in CRLF. */
export function endOfLine(text: string, newline: number): number {
  return newline < text.length && text[newline - 1] === "\r" ? newline - 1 : newline;
}

/** A way of writing a quote within a cell in quotes. */
interface Quoting {
  /** Returns the offset of the quote that closes a cell; infinite if there is none. */
  readonly closeOf: (text: string, from: number) => number;
  readonly textOf: (written: string) => string;
}

const doubled: Quoting = {
  closeOf(text, from) {
    let at = text.indexOf('"', from);
    while (at !== -1 && text[at + 1] === '"') at = text.indexOf('"', at + 2);
    return at === -1 ? Number.POSITIVE_INFINITY : at;
  },
  textOf: (written) => (written.includes('"') ? written.replaceAll('""', '"') : written),
};
const withBackslashes: Quoting = {
  closeOf(text, from) {
    const quote = text
      .slice(from)
      .matchAll(/""|\\["\\]|"/g)
      .find(([unit]) => unit === '"');
    return quote === undefined ? Number.POSITIVE_INFINITY : from + quote.index;
  },
  textOf: (written) => written.replaceAll(/""|\\["\\]/g, (two) => two.slice(-1)),
};

interface Grammar {
  readonly delimiter: string;
  readonly quoting: Quoting;
  /** True if a cell may have a quote that neither begins nor ends it. */
  readonly acceptsStray: boolean;
}

/** Reads the record at a offset. If it is open, the text before that offset ends with a quote that begins a cell. */
function read(text: string, from: number, isOpen: boolean, grammar: Grammar): CsvRecord | BrokenRecord {
  const cells: string[] = [];
  let isDoubtful = grammar.quoting !== doubled;
  // Searches only up to the end of the line: the next delimiter may be far away.
  let lines = upToLineEnd(text, from);
  let cell = from;
  for (let open = isOpen ? from - 1 : null; cell <= lines.length; open = null) {
    if (open === null) {
      cell = takePlainCells(lines, cell, grammar, cells);
      if (cell > lines.length) break;
      open = quoteAt(text, cell);
    }
    const found = open === null ? letters(lines, cell, grammar) : quotedCell(text, lines, cell, open, grammar);
    const { stray } = found;
    if (stray !== null && !isAccepted(stray, grammar)) return { cells: null, cell: open ?? cell, end: stray };
    isDoubtful ||= stray !== null && open !== null;
    cells.push(found.value);
    lines = found.lines;
    cell = found.end + 1;
  }
  return { cells, end: indexOf(text, "\n", lines.length) + 1, isDoubtful };
}

function isAccepted(stray: number, { acceptsStray }: Grammar): boolean {
  return acceptsStray && stray !== Number.POSITIVE_INFINITY;
}

/** Splits and adds the cells before the first cell with a quote. Returns the offset of that cell, or one past the end. */
function takePlainCells(lines: string, cell: number, { delimiter }: Grammar, cells: string[]): number {
  const quote = lines.indexOf('"', cell);
  const plain = lines.slice(cell, quote === -1 ? lines.length : quote);
  const length = quote === -1 ? plain.length : plain.lastIndexOf(delimiter);
  if (length === -1) return cell;
  for (const one of plain.slice(0, length).split(delimiter)) cells.push(one);
  return cell + length + 1;
}

/** Reads a quoted cell. If text follows its closing quote, its quotes are literal. */
function quotedCell(text: string, before: string, cell: number, open: number, grammar: Grammar) {
  const { closeOf, textOf } = grammar.quoting;
  const close = closeOf(text, open + 1);
  const end = afterBlanks(text, close + 1);
  const lines = close > before.length ? upToLineEnd(text, close) : before;
  if (end !== lines.length && text[end] !== grammar.delimiter) return letters(lines, cell, grammar, close);
  return { value: textOf(text.slice(open + 1, close)), end, lines, stray: null };
}

/**
 * Reads a cell as plain text up to the next delimiter. close is the position of a stray quote (Infinity if the quote is
 * never closed): then all quotes except an outer pair are literal.
 */
function letters(lines: string, cell: number, { delimiter }: Grammar, close: number | null = null) {
  const end = indexOf(lines, delimiter, cell);
  const value = lines.slice(cell, end);
  if (close === null && !value.includes('"')) return { value, end, lines, stray: null };
  return { value: value.replace(/^"(.*)"$/, "$1"), end, lines, stray: close ?? cell };
}

function upToLineEnd(text: string, offset: number): string {
  return text.slice(0, Math.max(offset, endOfLine(text, indexOf(text, "\n", offset))));
}

/** Returns the offset of the quote that begins a cell, with blanks before it as some programs write them; null if none does. */
function quoteAt(text: string, cell: number): number | null {
  const open = afterBlanks(text, cell);
  return text[open] === '"' ? open : null;
}

function afterBlanks(text: string, from: number): number {
  let at = from;
  while (text[at] === " ") at++;
  return at;
}
