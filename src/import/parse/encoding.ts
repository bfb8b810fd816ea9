/** Bytes to UTF-8 in whole lines: some programs write an older character set, UTF-16, or a byte order mark. */
import { isUtf8 } from "node:buffer";

export const newline = 10;
const endMark = 0x1a;

/** A set of letters from before UTF-8, by the name that people know. */
export type LegacyEncoding = "Windows-1252" | "Mac OS Roman";

/**
 * Yields UTF-8 without a byte order mark. A line that is not UTF-8 is read as Windows-1252, or as Mac OS Roman where lines
 * end in a carriage return alone. `onLegacyLine` hears of it.
 */
export async function* toUtf8(
  chunks: AsyncGenerator<Buffer>,
  onLegacyLine: (letters: LegacyEncoding) => void,
): AsyncGenerator<Buffer> {
  const text = withoutMark(await lookAhead(chunks, (head) => head.length >= 3));
  const { head, whole } = await lookAhead(text, (head) => endsInReturns(head) !== null || head.length >= longestLine);
  const isOfMac = endsInReturns(head) === true;
  const letters = isOfMac ? "Mac OS Roman" : "Windows-1252";
  const legacy = new TextDecoder(isOfMac ? "macintosh" : "windows-1252");
  for await (const lines of wholeLines(isOfMac ? withFeeds(whole) : whole)) {
    if (isUtf8(lines)) yield lines;
    else yield Buffer.concat(splitLines(lines).map((line) => (isUtf8(line) ? line : translate(line))));
  }
  function translate(line: Buffer): Buffer {
    onLegacyLine(letters);
    return Buffer.from(legacy.decode(line), "utf8");
  }
}

/** Cuts chunks behind a line, so that no letter is cut in two. */
async function* wholeLines(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let held: Buffer[] = [];
  let heldBytes = 0;
  for await (const chunk of chunks) {
    held.push(chunk);
    heldBytes += chunk.length;
    if (!chunk.includes(newline) && heldBytes < longestLine) continue;
    const piece = Buffer.concat(held);
    const cut = piece.lastIndexOf(newline) + 1 || lastLetter(piece);
    yield piece.subarray(0, cut);
    held = [piece.subarray(cut)];
    heldBytes = piece.length - cut;
  }
  const last = withoutEndMark(Buffer.concat(held));
  if (last.length > 0) yield last;
}

/** DOS ends a text with a mark, or fills its last block with it. */
function withoutEndMark(text: Buffer): Buffer {
  let end = text.length;
  while (text[end - 1] === endMark) end--;
  return text.subarray(0, end);
}

/** Where the last letter of a piece begins. Whether the whole of it is there, the next piece shows. */
function lastLetter(piece: Buffer): number {
  const isWithinLetter = (byte = 0) => byte >= 0x80 && byte < 0xc0;
  let start = piece.length - 1;
  while (start > 0 && piece.length - start < 4 && isWithinLetter(piece[start])) start--;
  return start;
}

const carriageReturn = 13;
/** A line that is longer than this is judged in pieces, so that memory does not grow with the file. */
const longestLine = 4 * 1024 * 1024;

/** Takes the byte order mark off, and decodes UTF-16. */
function withoutMark({ head, rest, whole }: Beginning): AsyncGenerator<Buffer> {
  const wide = wideDecoder(head);
  if (wide !== null) return decoded(whole, wide);
  const isMarked = head[0] === 0xef && head[1] === 0xbb && head[2] === 0xbf;
  return isMarked ? prepend(head.subarray(3), rest) : whole;
}

/** UTF-16 has its mark, or the half of its first letter that is zero: a header or a brace begins with ASCII. */
function wideDecoder([first, second]: Buffer): TextDecoder | null {
  if (first === undefined || second === undefined) return null;
  if ((first === 0xff && second === 0xfe) || (first !== 0 && second === 0)) return new TextDecoder("utf-16le");
  return (first === 0xfe && second === 0xff) || (first === 0 && second !== 0) ? new TextDecoder("utf-16be") : null;
}

async function* decoded(chunks: AsyncGenerator<Buffer>, decoder: TextDecoder): AsyncGenerator<Buffer> {
  for await (const chunk of chunks) yield Buffer.from(decoder.decode(chunk, { stream: true }), "utf8");
}

/** Whether the first line ends in a carriage return alone; null while that cannot be said. */
function endsInReturns(head: Buffer): boolean | null {
  const feed = head.indexOf(newline);
  const back = head.indexOf(carriageReturn);
  if (back === -1) return feed === -1 ? null : false;
  if (feed !== -1 && feed <= back + 1) return false;
  return back + 1 < head.length ? true : null;
}

async function* withFeeds(chunks: AsyncGenerator<Buffer>): AsyncGenerator<Buffer> {
  for await (const chunk of chunks) {
    yield Buffer.from(chunk.map((byte) => (byte === carriageReturn ? newline : byte)));
  }
}

interface Beginning {
  /** The first bytes: enough of them, or all that there are. */
  readonly head: Buffer;
  /** What comes behind the head. */
  readonly rest: AsyncIterableIterator<Buffer>;
  /** All of it, the head included. */
  readonly whole: AsyncGenerator<Buffer>;
}

/** Reads until the first bytes are enough. */
export async function lookAhead(
  chunks: AsyncIterableIterator<Buffer>,
  isEnough: (head: Buffer) => boolean,
): Promise<Beginning> {
  let head = Buffer.alloc(0);
  while (!isEnough(head)) {
    const next = await chunks.next();
    if (next.done) break;
    head = Buffer.concat([head, next.value]);
  }
  return { head, rest: chunks, whole: prepend(head, chunks) };
}

/** The same with something in front of it. */
export async function* prepend(head: Buffer, rest: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  if (head.length > 0) yield head;
  yield* rest;
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
