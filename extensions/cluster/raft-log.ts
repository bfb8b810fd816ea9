/**
 * The file in which rqlite keeps its Raft log, raft.db, in the format of bbolt: pages of a B+ tree, and a list of the free
 * ones. Free pages keep the bytes of deleted entries.
 */
import { closeSync, ftruncateSync, openSync, readFileSync, statSync, writeSync } from "node:fs";

const magic = 0xed0cdaed;
const headerBytes = 16;
/** The ID of the list if it is not stored, as with another option of bbolt than that of rqlite. */
const noFreelist = 2n ** 64n - 1n;
/** A list of more pages has their number before its first ID. */
const maxCount = 0xffff;

/**
 * Copies the pages in use of a log that no process has open. The other pages of the copy are holes, without bytes on the disk.
 * Throws if the file is not as bbolt writes it.
 */
export function copyUsedPages(from: string, to: string): void {
  const source = readFileSync(from);
  const { pageSize, freelist, pages } = newestMeta(source);
  const free = readFreePages(source, freelist, pageSize);
  const target = openSync(to, "wx", 0o600);
  try {
    ftruncateSync(target, source.length);
    for (let page = 0; page < pages; page++) {
      if (!free.has(page)) writeSync(target, source, page * pageSize, pageSize, page * pageSize);
    }
  } finally {
    closeSync(target);
  }
}

/** The number of bytes that a file takes on the disk. */
export function diskBytesOf(path: string): number {
  return statSync(path).blocks * 512;
}

/** The first two pages describe the file in turns, so that one of them is complete at any time. */
function newestMeta(file: Buffer) {
  const first = readMeta(file);
  const second = readMeta(file.subarray(first?.pageSize ?? 4_096));
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

function readFreePages(file: Buffer, freelist: bigint, pageSize: number): Set<number> {
  if (freelist === noFreelist) throw new Error("it has no list of free pages");
  const list = file.subarray(Number(freelist) * pageSize);
  const isLong = list.readUInt16LE(10) === maxCount;
  const count = isLong ? Number(list.readBigUInt64LE(headerBytes)) : list.readUInt16LE(10);
  const ids = list.subarray(headerBytes + (isLong ? 8 : 0));
  return new Set(Array.from({ length: count }, (_, place) => Number(ids.readBigUInt64LE(place * 8))));
}
