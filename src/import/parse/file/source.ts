/** Where the bytes of an import come from: a file or standard input, gzipped or not. */
import { UserError } from "../../../user-error.ts";
import { lookAhead } from "./beginning.ts";
import { gunzip, isGzip } from "./gzip.ts";
import { bytesOf, sizeOf, unreadable } from "./opening.ts";
import { isTelling, refuseOther } from "./other-files.ts";

export interface Source {
  /** The bytes, unpacked. Fails with a UserError when they cannot be read to the end. */
  readonly chunks: AsyncGenerator<Buffer>;
  /** How far the reading is, in bytes of the file as it lies on the disk. */
  bytesRead(): number;
  /** The size of the file; null where nobody knows it, as of standard input. */
  readonly size: number | null;
}

/**
 * Opens a file, or standard input for `-`. Throws a UserError when there is no such file. Where it follows no link, it
 * reads a file itself and nothing else.
 */
export function openSource(
  file: string,
  standardInput: () => AsyncIterable<Uint8Array>,
  followsNoLink = false,
): Source {
  const size = file === "-" ? null : sizeOf(file);
  let read = 0;
  async function* counted(): AsyncGenerator<Buffer> {
    try {
      for await (const chunk of file === "-" ? standardInput() : bytesOf(file, followsNoLink)) {
        read += chunk.length;
        yield Buffer.isBuffer(chunk) ? chunk : Buffer.from(chunk);
      }
    } catch (cause) {
      throw cause instanceof UserError ? cause : unreadable(file, cause);
    }
  }
  return { chunks: unpacked(counted(), file), bytesRead: () => read, size };
}

async function* unpacked(chunks: AsyncGenerator<Buffer>, file: string): AsyncGenerator<Buffer> {
  const { head, whole } = await lookAhead(chunks, isTelling);
  refuseOther(head, file);
  yield* isGzip(head) ? gunzip(whole, file) : whole;
}
