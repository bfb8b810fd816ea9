/**
 * The file in which rqlite keeps its Raft log, raft.db, in the format of bbolt: a B+ tree of pages. Pages that are free keep
 * the bytes of deleted entries.
 */
import { closeSync, fstatSync, ftruncateSync, openSync, readSync, statSync, writeSync } from "node:fs";

const magic = 0xed0cdaed;
const headerBytes = 16;
const elementBytes = 16;
const pageFlags = { branch: 0x01, leaf: 0x02 } as const;
const bucketFlag = 0x01;
const noFreelist = 2n ** 64n - 1n;
/** The first pages say where the tree begins. Two take turns, so that one of them is complete at any time. */
const metaPages = 2;

interface Meta {
  readonly pageSize: number;
  readonly root: bigint;
  readonly freelist: bigint;
  readonly transaction: bigint;
}

/**
 * Copies a log that no process has open: only the pages in use. The rest of the copy is a hole, which has no bytes and takes
 * no room on the disk. Throws if the file is not as bbolt writes it.
 */
export function copyUsedPages(from: string, to: string): void {
  const source = openSync(from, "r");
  const target = openSync(to, "wx", 0o600);
  try {
    const { pageSize, root, freelist } = newestMeta(source);
    const used = new Set<number>(Array.from({ length: metaPages }, (_, page) => page));
    if (freelist !== noFreelist) addPage(used, readPage(source, freelist, pageSize), freelist, pageSize);
    addTree(used, source, root, pageSize);
    ftruncateSync(target, fstatSync(source).size);
    for (const page of used) {
      writeSync(target, readAt(source, page * pageSize, pageSize), 0, pageSize, page * pageSize);
    }
  } finally {
    closeSync(source);
    closeSync(target);
  }
}

/** The number of bytes that a file takes on the disk. */
export function diskBytesOf(path: string): number {
  return statSync(path).blocks * 512;
}

function newestMeta(file: number): Meta {
  const first = readMeta(readAt(file, 0, 4_096));
  const pageSize = first?.pageSize ?? 4_096;
  const second = readMeta(readAt(file, pageSize, pageSize));
  const [newest] = [first, second]
    .filter((meta) => meta !== null)
    .toSorted((one, other) => Number(other.transaction - one.transaction));
  if (newest === undefined) throw new Error("it is no file of bbolt");
  return newest;
}

/** Reads a meta page; null if it is not complete, as after a power cut. */
function readMeta(page: Buffer): Meta | null {
  const at = headerBytes;
  if (page.readUInt32LE(at) !== magic || page.readUInt32LE(at + 4) !== 2) return null;
  const checked = page.subarray(at, at + 56);
  if (checksumOf(checked) !== page.readBigUInt64LE(at + 56)) return null;
  return {
    pageSize: page.readUInt32LE(at + 8),
    root: page.readBigUInt64LE(at + 16),
    freelist: page.readBigUInt64LE(at + 32),
    transaction: page.readBigUInt64LE(at + 48),
  };
}

/** FNV-1a with 64 bits. */
function checksumOf(bytes: Buffer): bigint {
  let hash = 0xcbf29ce484222325n;
  for (const byte of bytes) hash = BigInt.asUintN(64, (hash ^ BigInt(byte)) * 0x100000001b3n);
  return hash;
}

/** Adds the pages of a bucket and of the buckets in it. */
function addTree(used: Set<number>, file: number, number: bigint, pageSize: number): void {
  const page = readPage(file, number, pageSize);
  addPage(used, page, number, pageSize);
  const flags = page.readUInt16LE(8);
  const count = page.readUInt16LE(10);
  for (let element = 0; element < count; element++) {
    const at = headerBytes + element * elementBytes;
    if (flags === pageFlags.branch) addTree(used, file, page.readBigUInt64LE(at + 8), pageSize);
    else if (flags === pageFlags.leaf) addBucket(used, file, page, at, pageSize);
    else throw new Error(`page ${number} is neither a branch nor a leaf`);
  }
}

function addBucket(used: Set<number>, file: number, page: Buffer, at: number, pageSize: number): void {
  if ((page.readUInt32LE(at) & bucketFlag) === 0) return;
  const value = at + page.readUInt32LE(at + 4) + page.readUInt32LE(at + 8);
  const root = page.readBigUInt64LE(value);
  // A small bucket is within the value.
  if (root !== 0n) addTree(used, file, root, pageSize);
}

function addPage(used: Set<number>, page: Buffer, number: bigint, pageSize: number): void {
  for (let part = 0; part < page.length / pageSize; part++) used.add(Number(number) + part);
}

/** Reads a page with the pages that continue it. */
function readPage(file: number, number: bigint, pageSize: number): Buffer {
  const at = Number(number) * pageSize;
  const overflow = readAt(file, at, headerBytes).readUInt32LE(12);
  return readAt(file, at, (overflow + 1) * pageSize);
}

function readAt(file: number, position: number, length: number): Buffer {
  const bytes = Buffer.alloc(length);
  if (readSync(file, bytes, 0, length, position) !== length) throw new Error("it ends too early");
  return bytes;
}
