/**
 * Long transactions for bulk work. A transaction writes each page of an index once, however many of its rows change, so
 * longer transactions write less. A transaction ends as soon as another writer requests the lock, and after two seconds if a
 * server has the file.
 */
import { statSync } from "node:fs";
import type { Connection } from "./connection.ts";
import { freeBytesAt, walOf } from "./database-files.ts";
import { isServed, openLockRequests, writeWhenFree } from "./locks.ts";
import { nextSize } from "./steps.ts";
import { copyWal, openWal, truncateWal } from "./wal.ts";

/**
 * The bytes that a transaction may add to the log. The first one adds little, so that its commit is quick, and each one that
 * nobody interrupts lets the next one add twice as much. A commit adds what the cache still holds; the log stays below 1 GB.
 */
export const addedBytes = { first: 128 * 1024 * 1024, max: 768 * 1024 * 1024 };

/**
 * While a server has the file, programs that cannot request the lock get their turn too: SQLite's own wait for a lock looks
 * every 100 ms.
 */
const served = { transactionMs: 2_000, pauseMs: 110 };
const alone = { transactionMs: Number.POSITIVE_INFINITY, pauseMs: 0 };

const limitsOf = (path: string) => (isServed(path) ? served : alone);

/** Other writers wait for the end of a step. */
const steps = { min: 500, max: 2_000, shortMs: 60, longMs: 150 };

/** Work that is cut into transactions. */
export interface Work {
  /** Runs first in each transaction. */
  begin(): void;
  /** Writes at most `max` rows. Returns false when nothing is left. */
  step(max: number): boolean;
  /** Runs last in each transaction. */
  end(isDone: boolean): void;
  /** Restores the state of the last `begin`: the transaction was rolled back, and its steps run again. */
  rollBack(): void;
  /** Returns true to commit now, as after Ctrl-C. */
  isStopping(): boolean;
}

interface Limits {
  readonly first: number;
  readonly max: number;
  /** The time after which a transaction ends, even if nobody waits for the lock. */
  readonly transactionMs?: number;
}

/** Does all of the work. At each step of the generator, one more transaction is on the disk. */
export async function* inTransactions(
  database: Connection,
  work: Work,
  limits: Limits = addedBytes,
): AsyncGenerator<void> {
  const path = database.$client.filename;
  const requests = openLockRequests(path);
  const log = openWal(path);
  const logBytes = () => statSync(walOf(path)).size;
  let size = steps.min;
  const step = () => {
    const startedMs = performance.now();
    const isLeft = work.step(size);
    size = nextSize(size, performance.now() - startedMs, steps);
    return isLeft;
  };
  try {
    let mayAdd = limits.first;
    for (let isDone = false; !isDone; ) {
      // Leave space on a nearly full disk for other writers, such as a revocation, and for the checkpoint of the WAL.
      if (logBytes() > Math.min(limits.first, freeBytesAt(path) / 6)) emptyWal(database);
      const fromBytes = logBytes();
      const maxAdded = Math.min(mayAdd, freeBytesAt(path) / 3 - fromBytes);
      const added = () => logBytes() - fromBytes;
      const { transactionMs, pauseMs } = limitsOf(path);
      const maxMs = Math.min(transactionMs, limits.transactionMs ?? transactionMs);
      requests.begin();
      writeWhenFree(database.$client, () => database.$client.run("BEGIN IMMEDIATE"));
      const startedMs = performance.now();
      const isFull = () => added() > maxAdded || performance.now() - startedMs > maxMs;
      work.begin();
      let isLeft = step();
      while (isLeft && !requests.isRequested() && !work.isStopping() && !isFull()) {
        isLeft = step();
        // Signals are handled here.
        await Bun.sleep(0);
      }
      isDone = !isLeft;
      // Other writers would wait too long for a large commit, while a rollback takes about 10 ms. The work that is repeated
      // is never more than what was committed since the last request.
      if (isLeft && requests.isRequested() && added() > limits.first) {
        database.$client.run("ROLLBACK");
        work.rollBack();
      } else {
        work.end(isDone);
        database.$client.run("COMMIT");
        await onDisk(database, log.fsync());
      }
      mayAdd = requests.isRequested() ? limits.first : Math.min(2 * mayAdd, limits.max);
      await requests.letOthersWrite(isDone ? 0 : pauseMs);
      // A caller that was told to stop ends here, before the next transaction.
      yield;
    }
    copyWal(database);
  } finally {
    if (database.$client.inTransaction) database.$client.run("ROLLBACK");
    requests.close();
    log.close();
  }
}

/** Copies the log into the file and empties it, unless another program is in the way: then its size tells what it holds. */
function emptyWal(database: Connection): void {
  copyWal(database);
  // This takes the lock under which others write, so it must not wait for readers.
  writeWhenFree(database.$client, () => truncateWal(database), 0);
}

/** The next run takes this as written, so it must be on the disk, even if this sync failed. */
async function onDisk(database: Connection, synced: Promise<void>): Promise<void> {
  try {
    await synced;
  } catch (cause) {
    truncateWal(database);
    throw cause;
  }
}
