/** Where the bytes of an import come from: a file or standard input, gzipped or not. */
import { createReadStream, statSync } from "node:fs";
import { PassThrough, Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createGunzip } from "node:zlib";
import { Refusal } from "../refusal.ts";

export interface Source {
  /** The bytes, unpacked. Fails with a Refusal when they cannot be read to the end. */
  readonly chunks: AsyncIterable<Buffer>;
  /** How far the reading is, in bytes of the file as it lies on the disk. */
  bytesRead(): number;
  /** The size of the file; null for standard input. */
  readonly size: number | null;
}

/** About a thousand rows: as much as one transaction takes. */
const chunkBytes = 512 * 1024;

/** Opens a file, or standard input for `-`. Throws a Refusal when there is no such file. */
export function openSource(file: string, standardInput: () => AsyncIterable<Uint8Array>): Source {
  const size = file === "-" ? null : sizeOf(file);
  const bytes = file === "-" ? standardInput() : createReadStream(file, { highWaterMark: chunkBytes });
  let read = 0;
  async function* counted(): AsyncGenerator<Buffer> {
    for await (const chunk of bytes) {
      read += chunk.length;
      yield Buffer.from(chunk);
    }
  }
  return { chunks: unpacked(counted(), file), bytesRead: () => read, size };
}

function sizeOf(file: string): number {
  try {
    const found = statSync(file);
    if (found.isDirectory()) throw new Refusal(`${file} is a folder.`, "Name the export itself.");
    return found.size;
  } catch (cause) {
    if (cause instanceof Refusal) throw cause;
    throw new Refusal(`${file} cannot be read.`, "Check the name, and that this user may read it.");
  }
}

async function* unpacked(chunks: AsyncGenerator<Buffer>, file: string): AsyncGenerator<Buffer> {
  const head = await readHead(chunks);
  const whole = prepend(head, chunks);
  if (head[0] === 0x50 && head[1] === 0x4b && head[2] === 3) {
    throw new Refusal(`${file} is a zip archive or a spreadsheet.`, "Unpack it, or save the sheet as CSV.");
  }
  if (head[0] !== 0x1f || head[1] !== 0x8b) return yield* whole;
  const gunzip = createGunzip({ chunkSize: chunkBytes });
  const unpackedBytes = new PassThrough({ highWaterMark: chunkBytes });
  const unpacking = pipeline(Readable.from(whole, { objectMode: false }), gunzip, unpackedBytes);
  unpacking.catch(() => undefined);
  try {
    yield* unpackedBytes;
  } catch {
    throw new Refusal(
      `${file} is damaged or cut off: its gzip data ends wrongly.`,
      "The rows before that place are in; import the whole file and it completes.",
    );
  }
}

/** The first bytes, three at least unless there are fewer. */
async function readHead(chunks: AsyncGenerator<Buffer>): Promise<Buffer> {
  let head = Buffer.alloc(0);
  while (head.length < 3) {
    const next = await chunks.next();
    if (next.done) break;
    head = Buffer.concat([head, next.value]);
  }
  return head;
}

async function* prepend(head: Buffer, rest: AsyncGenerator<Buffer>): AsyncGenerator<Buffer> {
  if (head.length > 0) yield head;
  yield* rest;
}
