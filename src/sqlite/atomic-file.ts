/** Files that appear whole or not at all: made under another name, brought to the disk, then named. */
import { createHash } from "node:crypto";
import {
  closeSync,
  fsyncSync,
  lchownSync,
  linkSync,
  lstatSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";
import { codeOf } from "./failure.ts";
import { isSqlite } from "./file.ts";

const chunkBytes = 1 << 20;

/** The name of the draft under which a process makes a file. */
export function draftOf(path: string): string {
  return `${path}.draft-${process.pid}`;
}

/** Removes what is left of drafts whose processes were killed. */
export function removeStaleDrafts(path: string): void {
  for (const name of readdirSync(dirname(path))) {
    const maker = name.startsWith(`${basename(path)}.draft-`)
      ? /^\d+/.exec(name.slice(basename(path).length + 7))
      : null;
    if (maker !== null && !isAlive(Number(maker[0]))) rmSync(join(dirname(path), name), { force: true });
  }
}

/** Another machine or container may share the folder, and its processes are not ours to see. */
const untouchedMs = 3_600_000;
const draftName = /\.draft-(\d+)(?:-wal|-shm|-journal)?$/;
const trialName = /^\.leadfile-drill-(\d+)-/;

/** A folder of its own to try a backup in; its name says which process made it. */
export function trialFolderIn(folder: string): string {
  return mkdtempSync(join(folder, `.leadfile-drill-${process.pid}-`));
}

/** Removes from a folder what backups and trials have left that were killed, whatever its name was to be. */
export function removeLeftovers(folder: string): void {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    const maker = (entry.isDirectory() ? trialName : draftName).exec(entry.name)?.[1];
    if (maker === undefined || isAlive(Number(maker))) continue;
    try {
      if (Date.now() - statSync(path).mtimeMs < untouchedMs) continue;
      if (entry.isDirectory() || isOurs(path)) rmSync(path, { recursive: true, force: true });
    } catch {
      // A backup goes on where a file belongs to another user, or has just gone.
    }
  }
}

/** Looks at the content, too: a letter of somebody may also be called a draft. */
function isOurs(path: string): boolean {
  return /-(?:wal|shm|journal)$/.test(path) || isSqlite(path);
}

function isAlive(pid: number): boolean {
  if (pid === process.pid) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (cause) {
    // A process of somebody else is alive as well.
    return codeOf(cause) === "EPERM";
  }
}

/** Copies a file to a new one, to the disk, and gives its SHA-256 and length as they were read. */
export function copyDigesting(from: string, to: string | null): { sha256: string; bytes: number } {
  const source = openSync(from, "r");
  const target = to === null ? null : openSync(to, "wx", 0o600);
  try {
    const hash = createHash("sha256");
    const buffer = Buffer.alloc(chunkBytes);
    let bytes = 0;
    for (let length = read(source, buffer); length > 0; length = read(source, buffer)) {
      const chunk = buffer.subarray(0, length);
      hash.update(chunk);
      bytes += length;
      for (let done = 0; target !== null && done < length; ) done += writeSync(target, chunk, done);
    }
    if (target !== null) fsyncSync(target);
    return { sha256: hash.digest("hex"), bytes };
  } finally {
    closeSync(source);
    if (target !== null) closeSync(target);
  }
}

function read(file: number, buffer: Buffer): number {
  return readSync(file, buffer, 0, buffer.length, null);
}

/** Writes a small text to a new file, to the disk. */
export function writeDraft(path: string, text: string): void {
  const file = openSync(path, "wx", 0o600);
  try {
    writeSync(file, text);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
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

/** Brings a file, or the names in a folder, to the disk. */
export function sync(path: string): void {
  const file = openSync(path, "r");
  try {
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
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
