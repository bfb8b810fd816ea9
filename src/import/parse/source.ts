/** The source of the bytes of an import: a file or standard input, gzipped or not. */
import { closeSync, constants, createReadStream, fstatSync, openSync, type ReadStream, statSync } from "node:fs";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createGunzip } from "node:zlib";
import { codeOf } from "../../db/failure.ts";
import { adminCommand } from "../../runtime/program-name.ts";
import { UserError } from "../../runtime/user-error.ts";
import { ImportInterrupted } from "../new-lead.ts";
import { lookAhead } from "./encoding.ts";

/** About a thousand rows: as much as one transaction takes. */
const chunkBytes = 512 * 1024;

/** The bytes of a file or of standard input, which can be read once. */
export interface Source {
  /** The bytes, unpacked. Fails with a UserError when they cannot be read to the end. */
  readonly chunks: AsyncGenerator<Buffer>;
  /** The bytes of the file on the disk that were read. */
  bytesRead(): number;
  /** The size of the file; null if nobody knows it, as of standard input. */
  readonly size: number | null;
  /** Closes it, however much of it was read: a file that is refused at its beginning would stay open. */
  close(): void;
}

/**
 * Opens a file, or standard input for `-`. Throws a UserError when there is no such file. If it is unattended, it reads
 * a regular file and nothing else.
 */
export function openSource(file: string, standardInput: () => AsyncIterable<Uint8Array>, unattended = false): Source {
  const size = file === "-" ? null : sizeOf(file);
  let read = 0;
  let stream: ReadStream | null = null;
  async function* counted(): AsyncGenerator<Buffer> {
    try {
      for await (const chunk of file === "-" ? standardInput() : (stream = bytesOf(file, unattended))) {
        read += chunk.length;
        yield Buffer.isBuffer(chunk) ? chunk : Buffer.from(chunk);
      }
    } catch (cause) {
      throw cause instanceof UserError ? cause : unreadable(file, cause);
    }
  }
  const chunks = unpacked(counted(), file);
  return {
    chunks,
    bytesRead: () => read,
    size,
    close() {
      stream?.destroy();
      // Nobody waits for the rest of standard input, nor for a failure to close it.
      void chunks.return(undefined).catch(() => undefined);
    },
  };
}

function bytesOf(file: string, unattended: boolean): ReadStream {
  const options = { highWaterMark: chunkBytes };
  return createReadStream(file, unattended ? { ...options, fd: openRegular(file) } : options);
}

/** A link may have replaced the file that was found, and a pipe would be waited for. */
function openRegular(file: string): number {
  const descriptor = openSync(file, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  if (fstatSync(descriptor).isFile()) return descriptor;
  closeSync(descriptor);
  throw new UserError(`${file} is no longer a regular file.`, "Replace it with the file itself.");
}

/** Returns the size of a file; null for what has none, as a pipe. Throws a UserError when there is no such file. */
function sizeOf(file: string): number | null {
  try {
    const found = statSync(file);
    if (found.isDirectory()) throw new UserError(`${file} is a folder.`, "Pass the export itself.");
    return found.isFile() ? found.size : null;
  } catch (cause) {
    throw cause instanceof UserError ? cause : unreadable(file, cause);
  }
}

function unreadable(file: string, cause: unknown): UserError {
  const name = file === "-" ? "Standard input" : file;
  // A shell makes a descriptor of <(…), which bun run does not pass on.
  const advice = file.startsWith("/dev/fd/")
    ? "Pipe it into this command, with - for the file."
    : "Check the name, and that this user can read it.";
  return new ImportInterrupted(`${name} cannot be read (${codeOf(cause) || "unknown"}).`, advice, cause);
}

async function* unpacked(chunks: AsyncGenerator<Buffer>, file: string): AsyncGenerator<Buffer> {
  const { head: pieces, whole } = await lookAhead(chunks, hasSignature);
  const head = Buffer.concat(pieces);
  refuseOther(head, file);
  yield* isGzip(head) ? gunzip(whole, file) : whole;
}

function isGzip(head: Buffer): boolean {
  return head[0] === 0x1f && head[1] === 0x8b;
}

/** Decompresses a gzipped file. Throws a UserError if it is truncated, damaged, or compressed twice. */
async function* gunzip(packed: AsyncGenerator<Buffer>, file: string): AsyncGenerator<Buffer> {
  const unzip = createGunzip({ chunkSize: chunkBytes });
  // The loop below reads from `unzip`, and throws the same failure.
  pipeline(Readable.from(packed, { objectMode: false }), unzip).catch(() => undefined);
  try {
    const { head, whole } = await lookAhead(unzip[Symbol.asyncIterator](), hasSignature);
    if (isGzip(Buffer.concat(head)))
      throw new UserError(`${file} is compressed twice.`, "Decompress it once, then import it.");
    yield* whole;
  } catch (cause) {
    if (cause instanceof UserError) throw cause;
    throw new UserError(
      `${file} is damaged or truncated: its gzip data is incomplete.`,
      "Nothing was imported. Download it again, or extract the readable part: gzip -dc FILE > part.csv",
    );
  }
}

/** Returns whether the pieces at the beginning are long enough for every signature. */
function hasSignature(_: readonly Buffer[], length: number): boolean {
  return length >= 16;
}

const decompressAdvice = (command: string) => `Unpack it: ${command} FILE | ${adminCommand} lead import ACCOUNT -`;

/** The signatures of other files, in hex: whole ones, because a header may begin with `PK` or `BZh`. */
const otherFiles: readonly (readonly [signature: RegExp, what: string, advice: string])[] = [
  [/^504b(?:0304|0506|0708)/, "a zip archive or a spreadsheet", "Unpack it, or save the sheet as CSV."],
  [/^425a683[1-9]314159265359/, "compressed with bzip2", decompressAdvice("bzcat")],
  [/^28b52ffd/, "compressed with zstd", decompressAdvice("zstdcat")],
  [/^fd377a585a00/, "compressed with xz", decompressAdvice("xzcat")],
  [/^53514c69746520666f726d6174203300/, "an SQLite database", "Export its table as CSV."],
  [/^d0cf11e0a1b11ae1/, "an Excel workbook", "Save the sheet as CSV."],
  [/^255044462d/, "a PDF", "Export the table as CSV."],
  // An opening bracket, and a letter, an exclamation mark, or a question mark.
  [/^3c(?:[4-7]|21|3f)/, "a web page or XML", "Download the export itself, or save the table as CSV in a spreadsheet."],
];

/** Throws a UserError for a file that is known to be something else. */
function refuseOther(head: Buffer, file: string): void {
  const start = head.toString("hex", 0, 16);
  const other = otherFiles.find(([signature]) => signature.test(start));
  if (other !== undefined) throw new UserError(`${file} is ${other[1]}, not CSV or NDJSON.`, other[2]);
}
