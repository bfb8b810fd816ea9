/** The database file as the file system sees it. */
import { closeSync, openSync, readSync, statSync } from "node:fs";
import { shmOf, walOf } from "../store/database-files.ts";

const signature = Buffer.from("SQLite format 3\0");

/**
 * Whether a file begins as every SQLite database does; an empty file is a database without tables. Ask before SQLite
 * opens the file, never after: closing any descriptor of a file drops all locks that the process has on it.
 */
export function isSqlite(path: string): boolean {
  const file = openSync(path, "r");
  try {
    return beginsLikeSqlite(file, true);
  } finally {
    closeSync(file);
  }
}

function beginsLikeSqlite(file: number, mayBeEmpty: boolean): boolean {
  const head = Buffer.alloc(signature.length);
  const length = readSync(file, head, 0, head.length, 0);
  return (length === 0 && mayBeEmpty) || head.equals(signature);
}

/** The size of a file in bytes; 0 where there is none. */
export function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}

/** Which file a path leads to; undefined where there is none. */
export function inodeOf(path: string): number | undefined {
  return statSync(path, { throwIfNoEntry: false })?.ino;
}

export interface FileWatch {
  /**
   * Throws when the path leads to another file than the one that was opened, or to no database any more, or has no log.
   */
  assertSame(): void;
  /** To be called when the database is closed, and its locks with it. */
  close(): void;
}

/** Requests that come closer together than this share one look, which is three calls to the system. */
const restMs = 1;

/**
 * Notices what SQLite does not: an open file that was deleted, replaced or overwritten. Without this, the process would
 * go on serving its old content. It keeps one descriptor for as long as the database is open, because closing it would
 * drop the locks of SQLite.
 */
export function watchFile(path: string): FileWatch {
  const file = openSync(path, "r");
  const opened = statSync(path);
  const beside = [walOf(path), shmOf(path)].map((at) => ({ at, opened: inodeOf(at) }));
  let seenMs = opened.mtimeMs;
  let lookedMs = Number.NEGATIVE_INFINITY;
  return {
    assertSame() {
      const nowMs = performance.now();
      if (nowMs - lookedMs < restMs) return;
      const now = statSync(path, { throwIfNoEntry: false });
      if (now === undefined) throw new Error("the database file is gone; put it back or restart");
      if (now.ino !== opened.ino || now.dev !== opened.dev) {
        throw new Error("the database file was replaced; restart to serve the new one");
      }
      if (now.mtimeMs !== seenMs && !beginsLikeSqlite(file, false)) {
        throw new Error("the database file was overwritten; restore it and restart");
      }
      // Without its log, no commit of other programs gets here.
      if (beside.some((log) => inodeOf(log.at) !== log.opened)) {
        throw new Error("the log beside the database file was removed; restart, and leave -wal and -shm alone");
      }
      seenMs = now.mtimeMs;
      lookedMs = nowMs;
    },
    close: () => closeSync(file),
  };
}

/** Finds a descriptor to read the bytes of a file with, which must not be closed; null where there is no such file. */
export type Descriptors = (path: string) => number | null;

/**
 * Opens files that SQLite may have open as well, each once. None is closed for as long as the process lives: closing one
 * would drop the locks of SQLite.
 */
export function keepDescriptors(): Descriptors {
  const kept = new Map<string, { readonly file: number; readonly inode: number }>();
  return (path) => {
    const inode = inodeOf(path);
    if (inode === undefined) return null;
    const known = kept.get(path);
    if (known?.inode === inode) return known.file;
    const file = openSync(path, "r");
    kept.set(path, { file, inode });
    return file;
  };
}

/** The file that a server holds a lock on while it serves a database. */
export function serverLockPath(path: string): string {
  return `${path}.serving`;
}
