/**
 * Writes much in a few large transactions: each writes a page of an index once, however many of its rows change. A
 * transaction ends early when another writer requests the lock, so nobody waits long.
 */
import { statfsSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { walOf } from "../../store/database-files.ts";
import type { Connection } from "../connection.ts";
import { copyWal, openWal, truncateWal } from "../wal.ts";
import { openLockRequests } from "./lock-requests.ts";

/** The longest that a transaction lasts where nobody requests the lock. */
const longestMs = 2_000;
/** The log grows by half a gigabyte and a transaction, and needs as much room again in the file. */
const ampleBytes = 1024 * 1024 * 1024;

export interface Portions {
  /** Runs first in each transaction. */
  readonly begin: () => void;
  /** Writes as much as takes a few hundredths of a second; false when nothing is left. */
  readonly step: () => boolean;
  /** Runs last in each transaction. */
  readonly end: (isDone: boolean) => void;
}

/** Writes everything; at each step of the generator one more transaction is on the disk. */
export async function* inLargeTransactions(database: Connection, portions: Portions): AsyncGenerator<void> {
  const path = database.$client.filename;
  const requests = openLockRequests(path);
  const log = openWal(path);
  try {
    for (let isDone = false; !isDone; ) {
      // The last free space is for others, such as a revocation. Once the log is copied, its room is used again.
      const isSpaceLow = roomFor(path) < ampleBytes;
      if (isSpaceLow) copyWal(database);
      requests.begin();
      const mustEnd = () => isSpaceLow || requests.isRequested();
      isDone = database.transaction(() => writePortions(portions, mustEnd), { behavior: "immediate" });
      await onDisk(database, log.fsync());
      await requests.letOthersWrite();
      // Whoever was told to stop meanwhile stops here, before the next transaction.
      yield;
    }
    copyWal(database);
  } finally {
    requests.close();
    log.close();
  }
}

/** The bytes of the disk that are left when the log is copied into the file. */
function roomFor(path: string): number {
  const { bavail, bsize } = statfsSync(dirname(path));
  return bavail * bsize - statSync(walOf(path)).size;
}

function writePortions({ begin, step, end }: Portions, mustEnd: () => boolean): boolean {
  const endMs = performance.now() + longestMs;
  begin();
  let isDone = !step();
  while (!isDone && performance.now() < endMs && !mustEnd()) isDone = !step();
  end(isDone);
  return isDone;
}

/** The next run will take this for written, so it must be on the disk, even where this sync failed. */
async function onDisk(database: Connection, synced: Promise<void>): Promise<void> {
  try {
    await synced;
  } catch (cause) {
    truncateWal(database);
    throw cause;
  }
}
