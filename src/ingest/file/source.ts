/** Where the bytes of an import come from: a file or standard input, gzipped or not. */
import { closeSync, constants, createReadStream, fstatSync, openSync, statSync } from "node:fs";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createGunzip } from "node:zlib";
import { systemCode } from "../../operator/system-code.ts";
import { UserError } from "../../operator/user-error.ts";
import { lookAhead } from "./beginning.ts";
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

function bytesOf(file: string, followsNoLink: boolean): AsyncIterable<Uint8Array> {
  const options = { highWaterMark: chunkBytes };
  return createReadStream(file, followsNoLink ? { ...options, fd: openItself(file) } : options);
}

/** What lies there now need not be what was found: a link leads elsewhere, and a pipe would be waited for. */
function openItself(file: string): number {
  const descriptor = openSync(file, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  if (fstatSync(descriptor).isFile()) return descriptor;
  closeSync(descriptor);
  throw new UserError(`${file} is no file any more.`, "Put the file itself in its place.");
}

function sizeOf(file: string): number | null {
  try {
    const found = statSync(file);
    if (found.isDirectory()) throw new UserError(`${file} is a folder.`, "Name the export itself.");
    return found.isFile() ? found.size : null;
  } catch (cause) {
    throw cause instanceof UserError ? cause : unreadable(file, cause);
  }
}

function unreadable(file: string, cause: unknown): UserError {
  const name = file === "-" ? "Standard input" : file;
  // What a shell makes of <(…) is a descriptor, which bun run does not hand on.
  const advice = file.startsWith("/dev/fd/")
    ? "Pipe it into this command, with - for the file."
    : "Check the name, and that this user may read it.";
  return new UserError(`${name} cannot be read (${systemCode(cause) ?? "unknown"}).`, advice);
}

async function* unpacked(chunks: AsyncGenerator<Buffer>, file: string): AsyncGenerator<Buffer> {
  const { head, whole } = await lookAhead(chunks, isTelling);
  refuseOther(head, file);
  yield* isGzip(head) ? gunzip(whole, file) : whole;
}

/** About a thousand rows: as much as one transaction takes. */
export const chunkBytes = 512 * 1024;

function isGzip(head: Buffer): boolean {
  return head[0] === 0x1f && head[1] === 0x8b;
}

/** Unpacks it. Throws a UserError where it is cut off, or packed twice. */
async function* gunzip(packed: AsyncGenerator<Buffer>, file: string): AsyncGenerator<Buffer> {
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
