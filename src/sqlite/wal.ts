/**
 * The log beside the file, put on the disk next to everything else. A commit that waits for the disk keeps the file locked
 * meanwhile, and in the server all requests with it: such commits go to the log alone, and the log to the disk from here.
 */
import { closeSync, fdatasync, fdatasyncSync, openSync } from "node:fs";
import { promisify } from "node:util";
import { walOf } from "../store/database-files.ts";
import type { Connection } from "./connection.ts";

export interface Wal {
  /** Resolves when all that was committed before is on the disk. */
  fsync(): Promise<void>;
  /** The same, for the end of a program. */
  fsyncNow(): void;
  close(): void;
}

const fsync = promisify(fdatasync);

/** Opens the log of a database that is open. SQLite has no locks on it, which closing a descriptor would drop. */
export function openWal(path: string): Wal {
  const file = openSync(walOf(path), "r");
  return {
    fsync: () => fsync(file),
    fsyncNow: () => fdatasyncSync(file),
    close: () => closeSync(file),
  };
}

/**
 * Copies all of the log into the file, puts that on the disk, and empties the log; false where somebody is in the way.
 * It mends what a sync that failed has left out, too: that is still in the system's memory, but is not written again by
 * itself. Later syncs succeed without it, and the next start would read the log up to the gap and no further.
 */
export function truncateWal(database: Connection): boolean {
  const [result] = database.$client.query<{ busy: number }, []>("PRAGMA wal_checkpoint(TRUNCATE)").all();
  return result?.busy === 0;
}
