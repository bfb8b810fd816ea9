/** Files that are packed with gzip. */
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createGunzip } from "node:zlib";
import { UserError } from "../../../user-error.ts";
import { lookAhead } from "./beginning.ts";
import { chunkBytes } from "./opening.ts";
import { isTelling } from "./other-files.ts";

/** Whether a file begins as gzip does. */
export function isGzip(head: Buffer): boolean {
  return head[0] === 0x1f && head[1] === 0x8b;
}

/** Unpacks it. Throws a UserError where it is cut off, or packed twice. */
export async function* gunzip(packed: AsyncGenerator<Buffer>, file: string): AsyncGenerator<Buffer> {
  const unpacked = createGunzip({ chunkSize: chunkBytes });
  pipeline(Readable.from(packed, { objectMode: false }), unpacked).catch(() => undefined);
  try {
    const { head, whole } = await lookAhead(unpacked[Symbol.asyncIterator](), isTelling);
    if (isGzip(head)) throw new UserError(`${file} is packed twice.`, "Unpack it once before the import.");
    yield* whole;
  } catch (cause) {
    if (cause instanceof UserError) throw cause;
    throw new UserError(
      `${file} is damaged or cut off: its gzip data ends wrongly.`,
      "Nothing of it was imported. Fetch it again, or unpack what is readable: gzip -dc FILE > part.csv",
    );
  }
}
