/** Detects changes to the file of a server by other programs: commits, and a file that was deleted or replaced. */
import { closeSync, existsSync, fstatSync, openSync, readSync, statSync } from "node:fs";
import { DatabaseUnavailable } from "./connection.ts";
import { beginsLikeSqlite, shmOf, walOf } from "./database-files.ts";

/** The file is examined no more often than this: a look takes a tenth of an answer. */
const lookEveryMs = 1;

export type FileWatch = ReturnType<typeof watchFile>;

/** The size of the WAL index header, which has two equal copies (https://sqlite.org/walformat.html#the_wal_index_header). */
const headerBytes = 96;

/**
 * Detects commits to an open database. Every commit changes the header of the WAL index, by which SQLite itself decides whether
 * its cache is valid. Asking SQLite takes a lock, and four times as long. Close the watch after the database: closing a file
 * descriptor releases the locks of SQLite.
 */
function watchCommits(path: string) {
  // A database on a read-only disk may have no WAL index.
  const index = existsSync(shmOf(path)) ? openSync(shmOf(path), "r") : null;
  const [seen, header] = [Buffer.alloc(headerBytes), Buffer.alloc(headerBytes)];
  return {
    inode: index === null ? undefined : fstatSync(index).ino,
    /** Returns false only if nobody has committed anything since the last call, this program included. */
    mayHaveCommits(): boolean {
      if (index === null || readSync(index, header, 0, headerBytes, 0) < headerBytes) return true;
      if (header.equals(seen)) return false;
      header.copy(seen);
      return true;
    },
    close(): void {
      if (index !== null) closeSync(index);
    },
  };
}

/**
 * Detects what SQLite does not: an open file that was deleted, replaced or overwritten. Without this, the process would go on
 * serving its old content. It keeps one descriptor for as long as the database is open, because closing it would drop the locks
 * of SQLite.
 */
export function watchFile(path: string) {
  const file = openSync(path, "r");
  const commits = watchCommits(path);
  // Of the descriptors, not of the paths: rqlite may replace the files after they were opened.
  const opened = fstatSync(file);
  const statOf = (part: string) => statSync(part, { throwIfNoEntry: false });
  const logFiles = [
    { part: walOf(path), inode: statOf(walOf(path))?.ino },
    { part: shmOf(path), inode: commits.inode },
  ];
  let seenMs = opened.mtimeMs;
  let lookedMs = Number.NEGATIVE_INFINITY;
  return {
    mayHaveCommits: commits.mayHaveCommits,
    /** Throws if the file at the path was replaced, is no longer a database, or has lost its -wal or -shm file. */
    assertSame() {
      const nowMs = performance.now();
      if (nowMs - lookedMs < lookEveryMs) return;
      const now = statOf(path);
      if (now === undefined)
        throw new DatabaseUnavailable("The database file is missing.", "Put it back, or restart the server.");
      if (now.ino !== opened.ino || now.dev !== opened.dev) {
        throw new DatabaseUnavailable("The database file was replaced.", "To serve the new file, restart the server.");
      }
      if (now.mtimeMs !== seenMs && !beginsLikeSqlite(file)) {
        throw new DatabaseUnavailable(
          "The database file was overwritten.",
          "Restore a backup, and restart the server.",
        );
      }
      // Without its log, no commit of other programs arrives.
      if (logFiles.some(({ part, inode }) => statOf(part)?.ino !== inode)) {
        const advice = "Restart the server. Do not remove -wal and -shm.";
        throw new DatabaseUnavailable("The -wal or -shm file of the database was removed or replaced.", advice);
      }
      seenMs = now.mtimeMs;
      lookedMs = nowMs;
    },
    /** Call this when the database is closed, and its locks with it. */
    close(): void {
      commits.close();
      closeSync(file);
    },
  };
}
