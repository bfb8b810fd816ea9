/** Bytes to UTF-8: what is not valid UTF-8 is read as Windows-1252, line by line; UTF-16 is known by its mark. */
import { isUtf8 } from "node:buffer";

const newline = 10;
const carriageReturn = 13;
/** A line that is longer than this is judged in pieces, so that memory does not grow with the file. */
const longestLine = 4 * 1024 * 1024;

/** Yields UTF-8 in whole lines, without a byte order mark; `onLegacyLine` hears of each line that was not UTF-8. */
export async function* toUtf8(chunks: AsyncIterable<Buffer>, onLegacyLine: () => void): AsyncGenerator<Buffer> {
  const legacy = new TextDecoder("windows-1252");
  for await (const lines of wholeLines(oneLineEnd(decodeMarked(chunks)))) {
    if (isUtf8(lines)) yield lines;
    else yield Buffer.concat(splitLines(lines).map((line) => (isUtf8(line) ? line : translate(line))));
  }
  function translate(line: Buffer): Buffer {
    onLegacyLine();
    return Buffer.from(legacy.decode(line), "utf8");
  }
}

/** Takes the byte order mark off, and decodes UTF-16 where the mark says so. */
async function* decodeMarked(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let wide: TextDecoder | null = null;
  let head: Buffer | null = Buffer.alloc(0);
  for await (const chunk of chunks) {
    let bytes = chunk;
    if (head !== null) {
      head = Buffer.concat([head, chunk]);
      if (head.length < 3) continue;
      wide = wideDecoder(head);
      bytes = head[0] === 0xef && head[1] === 0xbb && head[2] === 0xbf ? head.subarray(3) : head;
      head = null;
    }
    yield wide === null ? bytes : Buffer.from(wide.decode(bytes, { stream: true }), "utf8");
  }
  if (head !== null && head.length > 0 && wideDecoder(head) === null) yield head;
}

/** Line feeds for the carriage returns of a file whose lines end in them alone, as some old programs write. */
async function* oneLineEnd(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let returnsAlone: boolean | null = null;
  let head = Buffer.alloc(0);
  for await (const chunk of chunks) {
    let bytes = chunk;
    if (returnsAlone === null) {
      bytes = head = Buffer.concat([head, chunk]);
      returnsAlone = endsInReturns(head);
      // What ends in a return may go on with a line feed.
      if (returnsAlone === null && head.length < longestLine) continue;
    }
    yield returnsAlone === true ? Buffer.from(bytes.map((byte) => (byte === carriageReturn ? newline : byte))) : bytes;
    head = Buffer.alloc(0);
  }
  if (head.length > 0) yield head;
}

/** Whether the first line ends in a carriage return alone; null while that cannot be said. */
function endsInReturns(head: Buffer): boolean | null {
  const feed = head.indexOf(newline);
  const back = head.indexOf(carriageReturn);
  if (back === -1) return feed === -1 ? null : false;
  if (feed !== -1 && feed <= back + 1) return false;
  return back + 1 < head.length ? true : null;
}

function wideDecoder(head: Buffer): TextDecoder | null {
  if (head[0] === 0xff && head[1] === 0xfe) return new TextDecoder("utf-16le");
  return head[0] === 0xfe && head[1] === 0xff ? new TextDecoder("utf-16be") : null;
}

/** Cuts chunks behind a line, so that no letter is cut in two. */
async function* wholeLines(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let rest: Buffer[] = [];
  let restBytes = 0;
  for await (const chunk of chunks) {
    const end = chunk.lastIndexOf(newline) + 1;
    if (end === 0 && restBytes + chunk.length < longestLine) {
      rest.push(chunk);
      restBytes += chunk.length;
      continue;
    }
    const cut = end === 0 ? endOfLetters(chunk) : end;
    yield Buffer.concat([...rest, chunk.subarray(0, cut)]);
    rest = cut < chunk.length ? [chunk.subarray(cut)] : [];
    restBytes = chunk.length - cut;
  }
  if (restBytes > 0) yield Buffer.concat(rest);
}

/** Where the last whole letter of a piece ends. */
function endOfLetters(piece: Buffer): number {
  let start = piece.length - 1;
  while (start > 0 && piece.length - start < 4 && isWithinLetter(piece[start] ?? 0)) start--;
  return bytesOfLetter(piece[start] ?? 0) > piece.length - start ? start : piece.length;
}

function isWithinLetter(byte: number): boolean {
  return byte >= 0x80 && byte < 0xc0;
}

/** How many bytes a letter of UTF-8 has, which its first one says. */
function bytesOfLetter(first: number): number {
  if (first < 0xc0) return 1;
  if (first < 0xe0) return 2;
  return first < 0xf0 ? 3 : 4;
}

/** The lines of a text, each with its end. */
export function splitLines(bytes: Buffer): Buffer[] {
  const lines: Buffer[] = [];
  for (let start = 0; start < bytes.length; ) {
    const end = bytes.indexOf(newline, start) + 1 || bytes.length;
    lines.push(bytes.subarray(start, end));
    start = end;
  }
  return lines;
}
