/** Bytes to UTF-8 in whole lines: some programs write an older set of letters. */
import { isUtf8 } from "node:buffer";
import { splitLines } from "../lines.ts";
import { inUsualForm, longestLine } from "./usual-form.ts";

const newline = 10;
const endMark = 0x1a;

/** A set of letters from before UTF-8, by the name that people know. */
export type OlderLetters = "Windows-1252" | "Mac OS Roman";

/**
 * Yields UTF-8 without a byte order mark. A line that is not UTF-8 is read as Windows-1252, or as Mac OS Roman where lines
 * end in a carriage return alone. `onLegacyLine` hears of it.
 */
export async function* toUtf8(
  chunks: AsyncGenerator<Buffer>,
  onLegacyLine: (letters: OlderLetters) => void,
): AsyncGenerator<Buffer> {
  const { text, isOfMac } = await inUsualForm(chunks);
  const letters = isOfMac ? "Mac OS Roman" : "Windows-1252";
  const legacy = new TextDecoder(isOfMac ? "macintosh" : "windows-1252");
  for await (const lines of wholeLines(text)) {
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
