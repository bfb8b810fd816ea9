/**
 * Writes much in a few large transactions: each writes a page of an index once, however many of its rows change. A
 * transaction ends early when another writer requests the lock, so nobody waits long.
 */
import type { Connection } from "../connection.ts";
import { copyWal, openWal, truncateWal } from "../wal.ts";
import { openLockRequests } from "./lock-requests.ts";

/** A transaction goes on for so long where nobody requests the lock. */
const longestMs = 2_000;

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
      requests.begin();
      isDone = database.transaction(() => writePortions(portions, requests.isRequested), { behavior: "immediate" });
      await onDisk(database, log.fsync());
      yield;
      await requests.letOthersWrite();
    }
    copyWal(database);
  } finally {
    requests.close();
    log.close();
  }
}

function writePortions({ begin, step, end }: Portions, isRequested: () => boolean): boolean {
  const endMs = performance.now() + longestMs;
  begin();
  let isDone = !step();
  while (!isDone && performance.now() < endMs && !isRequested()) isDone = !step();
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
