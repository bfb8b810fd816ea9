/** Bytes to text in whole lines: some programs write an older character set, UTF-16, or a byte order mark. */
import { isUtf8 } from "node:buffer";
import { maxPageBytes } from "../row.ts";

const lineFeed = 10;
const carriageReturn = 13;
const endMark = 0x1a;

/** A line is kept up to this size: no format takes one that is larger than a page. */
const maxLineBytes = maxPageBytes + 1;

/** A character set from before UTF-8, by its common name. */
export type LegacyEncoding = "Windows-1252" | "Mac OS Roman";

/**
 * Yields text without a byte order mark. A line that is not UTF-8 is read as Windows-1252, or as Mac OS Roman if lines end
 * in a carriage return alone, and `onLegacyLine` is called.
 */
export async function* toText(
  chunks: AsyncGenerator<Buffer>,
  onLegacyLine: (encoding: LegacyEncoding) => void,
): AsyncGenerator<string> {
  const start = await lookAhead(
    withoutMark(chunks),
    (head, length) => endsInReturns(Buffer.concat(head)) !== null || length >= maxLineBytes,
  );
  const isOfMac = endsInReturns(Buffer.concat(start.head)) === true;
  const encoding = isOfMac ? "Mac OS Roman" : "Windows-1252";
  const legacy = new TextDecoder(isOfMac ? "macintosh" : "windows-1252");
  // Each letter of Latin 1 is a byte.
  const decode = (text: string) => {
    const line = Buffer.from(text, "latin1");
    if (isUtf8(line) || line.length >= maxLineBytes) return line.toString("utf8");
    onLegacyLine(encoding);
    return legacy.decode(line);
  };
  for await (const lines of wholeLines(isOfMac ? withFeeds(start.whole) : start.whole)) {
    if (isUtf8(lines)) yield lines.toString("utf8");
    else yield Array.from(lines.toString("latin1").split(/(?<=\n)/), decode).join("");
  }
}

/** Cuts chunks after a line, so that no character is cut in two. What a line has beyond the limit is dropped. */
async function* wholeLines(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let waiting: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of chunks) {
    const cut = chunk.lastIndexOf(lineFeed) + 1;
    if (cut > 0) {
      yield Buffer.concat([...waiting, chunk.subarray(0, cut)]);
      waiting = [];
      bytes = 0;
    }
    const rest = chunk.subarray(cut, cut + maxLineBytes - bytes);
    if (rest.length > 0) waiting.push(rest);
    bytes += rest.length;
  }
  const last = Buffer.concat(waiting);
  // DOS ends a text with a mark, or fills its last block with it.
  let end = last.length;
  while (last[end - 1] === endMark) end--;
  if (end > 0) yield last.subarray(0, end);
}

/** Removes the byte order mark, and makes UTF-8 of UTF-16. */
async function* withoutMark(chunks: AsyncGenerator<Buffer>): AsyncGenerator<Buffer> {
  const { head: pieces } = await lookAhead(chunks, (_, length) => length >= 3);
  const head = Buffer.concat(pieces);
  const decoder = wideDecoder(head);
  const hasMark = head.toString("hex", 0, 3) === "efbbbf";
  for await (const chunk of prepend([head.subarray(hasMark ? 3 : 0)], chunks)) {
    yield decoder === null ? chunk : Buffer.from(decoder.decode(chunk, { stream: true }), "utf8");
  }
}

/** UTF-16 has its mark, or the half of its first letter that is zero: a header or a brace begins with ASCII. */
function wideDecoder([first, second]: Buffer): TextDecoder | null {
  if (first === undefined || second === undefined) return null;
  if ((first === 0xff && second === 0xfe) || (first !== 0 && second === 0)) return new TextDecoder("utf-16le");
  return (first === 0xfe && second === 0xff) || (first === 0 && second !== 0) ? new TextDecoder("utf-16be") : null;
}

/** Returns whether the first line ends in a carriage return alone; null while that is not known. */
function endsInReturns(head: Buffer): boolean | null {
  const feed = head.indexOf(lineFeed);
  const back = head.indexOf(carriageReturn);
  if (back === -1) return feed === -1 ? null : false;
  if (feed !== -1 && feed <= back + 1) return false;
  return back + 1 < head.length ? true : null;
}

async function* withFeeds(chunks: AsyncGenerator<Buffer>): AsyncGenerator<Buffer> {
  for await (const chunk of chunks) {
    yield Buffer.from(chunk.map((byte) => (byte === carriageReturn ? lineFeed : byte)));
  }
}

/**
 * Reads pieces of bytes or text until those at the start, of a total length, are enough. Returns them, and a stream of
 * everything including them.
 */
export async function lookAhead<Piece extends Buffer | string>(
  pieces: AsyncIterableIterator<Piece>,
  isEnough: (head: readonly Piece[], length: number) => boolean,
) {
  const head: Piece[] = [];
  let length = 0;
  for (let next = await pieces.next(); !next.done; next = await pieces.next()) {
    length += next.value.length;
    head.push(next.value);
    if (isEnough(head, length)) break;
  }
  return { head, whole: prepend(head, pieces) };
}

/** Yields some pieces, and all that follow them. */
export async function* prepend<Piece>(head: readonly Piece[], rest: AsyncIterable<Piece>): AsyncGenerator<Piece> {
  yield* head;
  yield* rest;
}
