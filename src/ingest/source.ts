/** Where the bytes of an import come from: a file or standard input, gzipped or not. */
import { createReadStream, statSync } from "node:fs";
import { PassThrough, Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createGunzip } from "node:zlib";
import { adminCommand } from "../operator/program-name.ts";
import { UserError } from "../operator/user-error.ts";

export interface Source {
  /** The bytes, unpacked. Fails with a UserError when they cannot be read to the end. */
  readonly chunks: AsyncIterable<Buffer>;
  /** How far the reading is, in bytes of the file as it lies on the disk. */
  bytesRead(): number;
  /** The size of the file; null where nobody knows it, as of standard input. */
  readonly size: number | null;
}

/** About a thousand rows: as much as one transaction takes. */
const chunkBytes = 512 * 1024;

/** Opens a file, or standard input for `-`. Throws a UserError when there is no such file. */
export function openSource(file: string, standardInput: () => AsyncIterable<Uint8Array>): Source {
  const size = file === "-" ? null : sizeOf(file);
  const bytes = file === "-" ? standardInput() : createReadStream(file, { highWaterMark: chunkBytes });
  let read = 0;
  async function* counted(): AsyncGenerator<Buffer> {
    for await (const chunk of bytes) {
      read += chunk.length;
      yield Buffer.isBuffer(chunk) ? chunk : Buffer.from(chunk);
    }
  }
  return { chunks: unpacked(counted(), file), bytesRead: () => read, size };
}

function sizeOf(file: string): number | null {
  try {
    const found = statSync(file);
    if (found.isDirectory()) throw new UserError(`${file} is a folder.`, "Name the export itself.");
    return found.isFile() ? found.size : null;
  } catch (cause) {
    if (cause instanceof UserError) throw cause;
    // What a shell makes of <(…) is a descriptor, which bun run does not hand on.
    const advice = file.startsWith("/dev/fd/")
      ? "Pipe it into this command, with - for the file."
      : "Check the name, and that this user may read it.";
    throw new UserError(`${file} cannot be read.`, advice);
  }
}

async function* unpacked(chunks: AsyncGenerator<Buffer>, file: string): AsyncGenerator<Buffer> {
  const head = await readHead(chunks);
  const whole = prepend(head, chunks);
  refuseOther(head, file);
  if (!isGzip(head)) return yield* whole;
  const gunzip = createGunzip({ chunkSize: chunkBytes });
  const unpackedBytes = new PassThrough({ highWaterMark: chunkBytes });
  const unpacking = pipeline(Readable.from(whole, { objectMode: false }), gunzip, unpackedBytes);
  unpacking.catch(() => undefined);
  try {
    const inner = unpackedBytes[Symbol.asyncIterator]();
    const innerHead = await readHead(inner);
    if (isGzip(innerHead)) throw new UserError(`${file} is packed twice.`, "Unpack it once before the import.");
    yield* prepend(innerHead, inner);
  } catch (cause) {
    if (cause instanceof UserError) throw cause;
    throw new UserError(
      `${file} is damaged or cut off: its gzip data ends wrongly.`,
      "Nothing of it was imported. Fetch it again, or unpack what is readable: gzip -dc FILE > part.csv",
    );
  }
}

function isGzip(head: Buffer): boolean {
  return head[0] === 0x1f && head[1] === 0x8b;
}

/** What people take for an export, by the bytes that it begins with. */
const otherFiles: readonly (readonly [head: string, what: string, advice: string])[] = [
  ["504b", "a zip archive or a spreadsheet", "Unpack it, or save the sheet as CSV."],
  ["425a68", "packed with bzip2", `Unpack it: bzcat FILE | ${adminCommand} lead import ACCOUNT -`],
  ["28b52ffd", "packed with zstd", `Unpack it: zstdcat FILE | ${adminCommand} lead import ACCOUNT -`],
  ["fd377a58", "packed with xz", `Unpack it: xzcat FILE | ${adminCommand} lead import ACCOUNT -`],
  ["53514c69", "an SQLite database", "Export its table as CSV."],
  ["25504446", "a PDF", "Export the table as CSV."],
];

function refuseOther(head: Buffer, file: string): void {
  const start = head.toString("hex", 0, 4);
  const other = otherFiles.find(([bytes]) => start.startsWith(bytes));
  if (other !== undefined) throw new UserError(`${file} is ${other[1]}, not CSV or NDJSON.`, other[2]);
}

/** The first bytes, four at least unless there are fewer. */
async function readHead(chunks: AsyncIterator<Buffer>): Promise<Buffer> {
  let head = Buffer.alloc(0);
  while (head.length < 4) {
    const next = await chunks.next();
    if (next.done) break;
    head = Buffer.concat([head, next.value]);
  }
  return head;
}

async function* prepend(head: Buffer, rest: AsyncIterator<Buffer>): AsyncGenerator<Buffer> {
  if (head.length > 0) yield head;
  for (let next = await rest.next(); !next.done; next = await rest.next()) yield next.value;
}
