/**
 * The file in which rqlite keeps its Raft log, raft.db, in the format of bbolt: pages of a B+ tree, and a list of the free
 * ones. Free pages keep the bytes of deleted entries.
 */
import { closeSync, fstatSync, ftruncateSync, openSync, readSync, writeSync } from "node:fs";

const magic = 0xed0cdaed;
const headerBytes = 16;
/** A list of more pages has their number before its first ID. */
const maxCount = 0xffff;

/**
 * Copies the pages in use of a log that no process has open. The other pages of the copy are holes, without bytes on the disk.
 * Throws if the file is not as bbolt writes it. Reads one page at a time, because a log can be larger than the memory.
 */
export function copyUsedPages(from: string, to: string): void {
  const source = openSync(from, "r");
  const target = openSync(to, "wx", 0o600);
  try {
    const { pageSize, freelist, pages } = newestMeta(source);
    const free = readFreePages(source, freelist, pageSize);
    ftruncateSync(target, fstatSync(source).size);
    for (let page = 0; page < pages; page++) {
      if (!free.has(page)) writeSync(target, readAt(source, page * pageSize, pageSize), 0, pageSize, page * pageSize);
    }
  } finally {
    closeSync(source);
    closeSync(target);
  }
}

function readAt(file: number, position: number, length: number): Buffer {
  const bytes = Buffer.alloc(length);
  if (readSync(file, bytes, 0, length, position) !== length) throw new Error("it ends too early");
  return bytes;
}

/** The first two pages describe the file in turns, so that one of them is complete at any time. */
function newestMeta(file: number) {
  const first = readMeta(readAt(file, 0, 4_096));
  const second = readMeta(readAt(file, first?.pageSize ?? 4_096, 4_096));
  const complete = [first, second].filter((meta) => meta !== null);
  const [newest] = complete.toSorted((one, other) => Number(other.transaction - one.transaction));
  if (newest === undefined) throw new Error("it is no file of bbolt");
  return newest;
}

/** Reads a page that describes the file; null if it is not complete, as after a power cut. */
function readMeta(page: Buffer) {
  const at = headerBytes;
  if (page.readUInt32LE(at) !== magic || page.readUInt32LE(at + 4) !== 2) return null;
  if (checksumOf(page.subarray(at, at + 56)) !== page.readBigUInt64LE(at + 56)) return null;
  return {
    pageSize: page.readUInt32LE(at + 8),
    freelist: page.readBigUInt64LE(at + 32),
    /** The number of pages that were ever used. */
    pages: Number(page.readBigUInt64LE(at + 40)),
    transaction: page.readBigUInt64LE(at + 48),
  };
}

/** FNV-1a with 64 bits. */
function checksumOf(bytes: Buffer): bigint {
  let hash = 0xcbf29ce484222325n;
  for (const byte of bytes) hash = BigInt.asUintN(64, (hash ^ BigInt(byte)) * 0x100000001b3n);
  return hash;
}

function readFreePages(file: number, freelist: bigint, pageSize: number): Set<number> {
  const at = Number(freelist) * pageSize;
  const overflow = readAt(file, at, headerBytes).readUInt32LE(12);
  const list = readAt(file, at, (1 + overflow) * pageSize);
  const isLong = list.readUInt16LE(10) === maxCount;
  const count = isLong ? Number(list.readBigUInt64LE(headerBytes)) : list.readUInt16LE(10);
  const ids = list.subarray(headerBytes + (isLong ? 8 : 0));
  return new Set(Array.from({ length: count }, (_, index) => Number(ids.readBigUInt64LE(index * 8))));
}
