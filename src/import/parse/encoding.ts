/** Bytes to text, and text to whole lines: some programs write an older character set, UTF-16, or a byte order mark. */
import { isUtf8 } from "node:buffer";
import { maxPageLength } from "../row.ts";

const lineFeed = 10;
const carriageReturn = 13;
const endMark = "\x1a";
/** A line that is longer is not kept until its end. */
const maxPieceBytes = 512 * 1024;

/** The maximum length of a line that is kept: no format accepts a longer one. */
const maxLineLength = maxPageLength + 1;

/** A character set from before UTF-8, by its common name. */
export type LegacyEncoding = "Windows-1252" | "Mac OS Roman";

/**
 * Yields text without a byte order mark, in pieces that end with a line or, in a long one, with any letter. A line that is not
 * UTF-8 is read as Windows-1252, or as Mac OS Roman if lines end in a carriage return alone, and `onLegacyLine` is called.
 */
export async function* toText(
  chunks: AsyncGenerator<Buffer>,
  onLegacyLine: (encoding: LegacyEncoding) => void,
): AsyncGenerator<string> {
  const start = await lookAhead(
    withoutMark(chunks),
    (head, length) => length >= maxPieceBytes || endsInReturns(Buffer.concat(head)) !== null,
  );
  const isOfMac = endsInReturns(Buffer.concat(start.head)) === true;
  const encoding = isOfMac ? "Mac OS Roman" : "Windows-1252";
  const legacy = new TextDecoder(isOfMac ? "macintosh" : "windows-1252");
  // Each letter of Latin 1 is a byte.
  const decode = (text: string) => {
    const line = Buffer.from(text, "latin1");
    if (isUtf8(line)) return line.toString("utf8");
    onLegacyLine(encoding);
    return legacy.decode(line);
  };
  async function* decoded(): AsyncGenerator<string> {
    for await (const piece of wholeLetters(isOfMac ? withFeeds(start.whole) : start.whole)) {
      if (isUtf8(piece)) yield piece.toString("utf8");
      else yield Array.from(piece.toString("latin1").split(/(?<=\n)/), decode).join("");
    }
  }
  yield* withoutEndMarks(decoded());
}

/** Cuts chunks after a line. A long line is cut too, but no character in two. */
async function* wholeLetters(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  let waiting: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of chunks) {
    let cut = chunk.lastIndexOf(lineFeed) + 1;
    if (cut === 0 && bytes + chunk.length >= maxPieceBytes) cut = endOfLetters(chunk);
    if (cut > 0) {
      yield Buffer.concat([...waiting, chunk.subarray(0, cut)]);
      waiting = [];
      bytes = 0;
    }
    if (cut < chunk.length) waiting.push(chunk.subarray(cut));
    bytes += chunk.length - cut;
  }
  if (bytes > 0) yield Buffer.concat(waiting);
}

/** Returns the end of the last letter of UTF-8 that is complete, or of all bytes if they are not UTF-8. */
function endOfLetters(bytes: Buffer): number {
  for (let offset = bytes.length - 1; offset >= Math.max(0, bytes.length - 4); offset--) {
    const byte = bytes[offset] ?? 0;
    if (byte < 0x80) return offset + 1;
    if (byte >= 0xc0) return offset;
  }
  return bytes.length;
}

/** Drops the marks with which DOS ends a text, or fills its last block. */
async function* withoutEndMarks(texts: AsyncIterable<string>): AsyncGenerator<string> {
  let marks = 0;
  for await (const text of texts) {
    let end = text.length;
    while (text[end - 1] === endMark) end--;
    if (end > 0) yield endMark.repeat(marks) + text.slice(0, end);
    marks = (end > 0 ? 0 : marks) + text.length - end;
  }
}

/** Yields text in whole lines. The rest of a line beyond the limit is dropped. */
export async function* linesOf(texts: AsyncIterable<string>): AsyncGenerator<string> {
  let line = "";
  for await (const text of texts) {
    const cut = text.lastIndexOf("\n") + 1;
    if (cut > 0) yield line + text.slice(0, cut);
    const rest = cut > 0 ? text.slice(cut) : text;
    line = cut > 0 ? rest : line + rest.slice(0, Math.max(0, maxLineLength - line.length));
  }
  if (line !== "") yield line;
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
