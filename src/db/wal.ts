/**
 * Writes the log to the disk in another thread. A commit that waits for the disk keeps the file locked, and the requests of
 * the server wait, too. So such commits only append to the log, and the log is written to the disk from here.
 */
import { closeSync, fdatasync, fdatasyncSync, openSync } from "node:fs";
import { promisify } from "node:util";
import type { Connection } from "./connection.ts";
import { walOf } from "./database-files.ts";
import { writeWhenFree } from "./locks.ts";

/**
 * A commit that leaves this many pages in the log, half a gigabyte, copies them into the file: a page that changed in several
 * commits is copied once. A program that writes much does it sooner than the server, whose requests would wait. An erasure writes
 * all in one commit: for some seconds after it, the server copies nothing.
 */
export const pagesUntilCopied = { byWriter: 60_000, byServer: 80_000 } as const;

const fsync = promisify(fdatasync);

/** Opens the log of a database that is open. SQLite has no locks on it, which closing a descriptor would drop. */
export function openWal(path: string) {
  const file = openSync(walOf(path), "r");
  return {
    /** Resolves when everything that was committed before is on the disk. */
    fsync: () => fsync(file),
    /** Syncs before it returns, for the end of a process. */
    fsyncNow: () => fdatasyncSync(file),
    close: () => closeSync(file),
  };
}

/** Copies the log into the file as far as no reader prevents it, so that the next writer does not have to. */
export function copyWal(database: Connection): void {
  try {
    database.$client.run("PRAGMA wal_checkpoint(PASSIVE)");
  } catch {
    // The log holds everything, and is copied later.
  }
}

/**
 * Copies all of the log into the file, writes the file to the disk, and empties the log; false if another program prevents
 * it. This also repairs what a failed sync left out. The system still has that in memory, but does not write it again:
 * later syncs succeed without it, and the next start would read the log only up to the gap.
 */
export function truncateWal(database: Connection): boolean {
  const [result] = database.$client.query<{ busy: number }, []>("PRAGMA wal_checkpoint(TRUNCATE)").all();
  return result?.busy === 0;
}

/**
 * Returns a function that syncs the WAL to disk. If a sync fails, the WAL may have a gap that later syncs do not
 * repair.
 */
export function createSync(database: Connection, wal: ReturnType<typeof openWal>): () => Promise<void> {
  let isWhole = true;
  return async () => {
    if (!isWhole) isWhole = writeWhenFree(database.$client, () => truncateWal(database), 0);
    if (!isWhole) throw new Error("another program keeps the log of the database in use");
    isWhole = false;
    await wal.fsync();
    isWhole = true;
  };
}
