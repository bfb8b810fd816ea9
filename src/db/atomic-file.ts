/** Files that appear whole or not at all: made under another name, brought to the disk, then named. */
import { createHash } from "node:crypto";
import {
  closeSync,
  existsSync,
  fsyncSync,
  lchownSync,
  linkSync,
  lstatSync,
  openSync,
  readSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { dirname } from "node:path";
import { filesOf } from "./database-files.ts";
import { codeOf } from "./failure.ts";
import { openFile } from "./file.ts";

const chunkBytes = 1 << 20;

/** The name of the draft under which a process makes a file. */
export function draftOf(path: string): string {
  return `${path}.draft-${process.pid}`;
}

/** Copies a file to a new one, to the disk, and gives its SHA-256 and length as they were read. */
export function copyDigesting(from: string, to: string | null): { sha256: string; bytes: number } {
  using source = openFile(from, "r");
  return copyOpen(source.descriptor, to);
}

/** The same of a file that is open, and stays so. */
export function copyOpen(source: number, to: string | null): { sha256: string; bytes: number } {
  using target = to === null ? null : openFile(to, "wx");
  const hash = createHash("sha256");
  const buffer = Buffer.alloc(chunkBytes);
  const read = () => readSync(source, buffer, 0, chunkBytes, null);
  let bytes = 0;
  for (let length = read(); length > 0; length = read()) {
    const chunk = buffer.subarray(0, length);
    hash.update(chunk);
    bytes += length;
    for (let done = 0; target !== null && done < length; ) done += writeSync(target.descriptor, chunk, done);
  }
  if (target !== null) fsyncSync(target.descriptor);
  return { sha256: hash.digest("hex"), bytes };
}

/** Writes a small text to a new file, to the disk. */
export function writeDraft(path: string, text: string): void {
  using file = openFile(path, "wx");
  writeFileSync(file.descriptor, text);
  fsyncSync(file.descriptor);
}

/**
 * A file that root makes must be open to the user who serves the database: it gets the owner of the database, or of the
 * folder where there is no database yet. Users other than root cannot give files away, and need not.
 */
export function giveToOwner(path: string, database: string): void {
  const before = statSync(database, { throwIfNoEntry: false });
  const { uid, gid } = before ?? statSync(dirname(database));
  const own = lstatSync(path);
  if (own.uid === uid && own.gid === gid) return;
  try {
    lchownSync(path, uid, gid);
  } catch (cause) {
    if (before !== undefined || codeOf(cause) !== "EPERM") throw cause;
  }
}

/** Removes a draft, and what SQLite keeps beside it. Where none could be made, nothing is tried that fails as well. */
export function removeDraft(draft: string): void {
  for (const part of filesOf(draft)) if (existsSync(part)) rmSync(part, { force: true });
}

/** Brings a file, or the names in a folder, to the disk. */
export function sync(path: string): void {
  using file = openFile(path, "r");
  fsyncSync(file.descriptor);
}

/** Gives a draft its name; throws where such a file exists by now, because it is never overwritten. */
export function nameDraft(draft: string, path: string): void {
  try {
    linkSync(draft, path);
  } catch (cause) {
    if (!isUnlinkable(cause)) throw cause;
    // A file system without hard links, such as a memory stick: an empty file takes the name first.
    closeSync(openSync(path, "wx", 0o600));
    renameSync(draft, path);
    return;
  }
  rmSync(draft);
}

/** Whether a file system has no hard links. */
export function isUnlinkable(cause: unknown): boolean {
  return ["EPERM", "ENOTSUP", "EOPNOTSUPP", "ENOSYS"].includes(codeOf(cause));
}
