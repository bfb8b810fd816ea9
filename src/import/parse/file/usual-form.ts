/** A text in the form that most programs give it: some write UTF-16 or a byte order mark, or end lines as the first Macs did. */
import { type Beginning, lookAhead, prepend } from "./beginning.ts";

const newline = 10;
const carriageReturn = 13;
/** A line that is longer than this is judged in pieces, so that memory does not grow with the file. */
export const longestLine = 4 * 1024 * 1024;

interface UsualForm {
  readonly text: AsyncGenerator<Buffer>;
  /** Whether its lines ended as the first Macs ended them. */
  readonly isOfMac: boolean;
}

/** The same text in the form that most programs give it, and so most often the same bytes. */
export async function inUsualForm(chunks: AsyncGenerator<Buffer>): Promise<UsualForm> {
  const text = withoutMark(await lookAhead(chunks, (head) => head.length >= 3));
  const { head, whole } = await lookAhead(text, (head) => endsInReturns(head) !== null || head.length >= longestLine);
  const isOfMac = endsInReturns(head) === true;
  return { text: isOfMac ? withFeeds(whole) : whole, isOfMac };
}

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
