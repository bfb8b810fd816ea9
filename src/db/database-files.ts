/** The files of a database, and folders next to it for files that are not complete yet. */
import {
  closeSync,
  type DisposableTempDir,
  existsSync,
  fsyncSync,
  lchownSync,
  lstatSync,
  mkdtempDisposableSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  rmSync,
  statfsSync,
  statSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { UserError } from "../runtime/user-error.ts";
import { codeOf } from "./failure.ts";

/** Returns the path of the write-ahead log, which has the commits that are not copied into the file yet. */
export function walOf(path: string): string {
  return `${path}-wal`;
}

/** The index of the log, which all programs that have the file open share. */
export function shmOf(path: string): string {
  return `${path}-shm`;
}

/** The file, and all that SQLite keeps next to it. */
export function filesOf(path: string): string[] {
  return [path, walOf(path), shmOf(path), `${path}-journal`];
}

/**
 * The folder of what vendors have delivered, until it is imported: next to the file, on the same disk. Next to the file of a
 * node rqlite alone may write, so that it is in the folder in which the program runs.
 */
export function spoolOf(path: string): string {
  return ownFilePath(path, "spool");
}

/**
 * Returns the path of a file or folder that only Leadfile uses: next to the database or, for the file of a node, in the working
 * directory.
 */
export function ownFilePath(path: string, kind: "spool" | "alerts" | "backup-failed"): string {
  return `${isFileOfNode(path) ? "leadfile.db" : path}.${kind}`;
}

/** The file whose lock is taken by the server of a database, each program that opens it, and a restore. */
export function serverLockOf(path: string): string {
  return `${path}.serving`;
}

/** The small file in which writers request the lock. It exists only while a program has much to write. */
export function lockRequestsOf(path: string): string {
  return `${path}.asking`;
}

/** The log of an rqlite node, next to a file that rqlite alone may write. */
export function raftLogOf(path: string): string {
  return join(dirname(path), "raft.db");
}

/** Returns whether rqlite alone may write a file: the log of its node is next to it. */
export function isFileOfNode(path: string): boolean {
  return existsSync(raftLogOf(path));
}

/** The size of a file in bytes; 0 if there is none. */
export function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}

/** Returns whether a path is a folder or a link to one. */
export function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
}

/** Reads a file that a user named; throws a UserError with advice if it cannot be read. */
export function readText(path: string, advice: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (cause) {
    throw new UserError(`${path} cannot be read (${codeOf(cause)}).`, advice);
  }
}

/** Returns the bytes that are free on the disk of a file. */
export function freeBytesAt(path: string): number {
  const { bavail, bsize } = statfsSync(dirname(path));
  return bavail * bsize;
}

/** The inode of the file at a path; undefined if there is none. */
export function inodeOf(path: string): number | undefined {
  return statSync(path, { throwIfNoEntry: false })?.ino;
}

/**
 * Returns whether a file begins like every SQLite database; an empty file is a database without tables. Ask before SQLite
 * opens the file, never after: closing any descriptor of a file drops all locks that the process has on it.
 */
export function isSqlite(path: string): boolean {
  const file = openSync(path, "r");
  try {
    return statSync(path).size === 0 || beginsLikeSqlite(file);
  } finally {
    closeSync(file);
  }
}

const signature = Buffer.from("SQLite format 3\0");

/** Returns whether an open file begins like an SQLite database; an empty one does not. */
export function beginsLikeSqlite(file: number): boolean {
  const head = Buffer.alloc(signature.length);
  readSync(file, head, 0, head.length, 0);
  return head.equals(signature);
}

/** Writes a file, or the names in a folder, to the disk. */
export function sync(path: string): void {
  const file = openSync(path, "r");
  fsyncSync(file);
  closeSync(file);
}

/**
 * Gives a file that root makes to the user who serves the database: to the owner of the database, or of its folder if there
 * is none yet. Users other than root cannot give files away, and need not. Another process may have removed the file: then
 * nothing is to be done.
 */
export function giveToOwner(path: string, database: string): void {
  const before = statSync(database, { throwIfNoEntry: false });
  const { uid, gid } = before ?? statSync(dirname(database));
  const own = lstatSync(path, { throwIfNoEntry: false });
  if (own === undefined || (own.uid === uid && own.gid === gid)) return;
  try {
    lchownSync(path, uid, gid);
  } catch (cause) {
    const code = codeOf(cause);
    if (code !== "ENOENT" && (before !== undefined || code !== "EPERM")) throw cause;
  }
}

/** The name of a folder for files that are not complete yet, with the process that makes them. */
export const draftFolder = /^\.leadfile-draft-(\d+)-/;

/**
 * Creates a folder in another one for files that are not complete yet, until the end of the block that uses it. Removes those
 * of processes that were killed. From then on, all files that the process creates are for its user alone.
 */
export function createDraftFolder(parent: string): DisposableTempDir {
  if (!isFolder(parent)) {
    throw new UserError(`There is no folder ${parent}.`, "Create it, or pass a file in another folder.");
  }
  removeAbandonedDrafts(parent, 3_600_000);
  // Nobody else may read a copy of the database.
  process.umask(0o077);
  try {
    return mkdtempDisposableSync(join(parent, `.leadfile-draft-${process.pid}-`));
  } catch (cause) {
    const advice = "Free some space, name another folder, or run the command as a user that can write to this one.";
    throw new UserError(`The folder ${parent} is not writable (${codeOf(cause)}).`, advice);
  }
}

/**
 * Removes the draft folders of processes that were killed. Another machine or container may share the folder, and its
 * processes are not seen here: then only what nobody has touched for some time is removed.
 */
export function removeAbandonedDrafts(parent: string, untouchedMs: number): void {
  for (const name of readdirSync(parent)) {
    const maker = draftFolder.exec(name)?.[1];
    if (maker === undefined || isAlive(Number(maker))) continue;
    try {
      const path = join(parent, name);
      if (Date.now() - statSync(path).mtimeMs >= untouchedMs) rmSync(path, { recursive: true, force: true });
    } catch {
      // It belongs to another user, or somebody has just removed it.
    }
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return pid !== process.pid;
  } catch (cause) {
    // A process of another user is alive as well.
    return codeOf(cause) === "EPERM";
  }
}
