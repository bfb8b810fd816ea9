/** The store of a server on the one file: what its requests read, and the counts of them, which it writes. */
import { listAccounts } from "./db/accounts.ts";
import type { Connection } from "./db/connection.ts";
import { explainFailure, innermost, isFull, lastCountsLost } from "./db/failure.ts";
import { removeStaleDrafts } from "./db/leftovers.ts";
import { takeLock } from "./db/locks/process-lock.ts";
import { withoutWaiting } from "./db/locks/requesting-database.ts";
import { openDatabase } from "./db/open.ts";
import { guarded, openReader, type Reader } from "./db/reader.ts";
import type { KeyNumber, ReadStore } from "./db/serving.ts";
import { openUsageReader } from "./db/usage.ts";
import { createUsageCounter, type Flushed, type UsageCounter } from "./db/usage-counter.ts";
import { createSettle, openWal, pagesUntilCopied, truncateWal, type Wal } from "./db/wal.ts";
import { createFlush } from "./flush.ts";
import { ledgerBegins, ledgerEnds, openGapRecorder } from "./privacy/disclosures/gaps.ts";
import { createDisclosureLedger, type DisclosedPage } from "./privacy/disclosures/ledger.ts";
import type { Retained } from "./privacy/retention.ts";
import { retainInThread } from "./privacy/retention-thread.ts";
import { UserError } from "./user-error.ts";

/** What a request reads, where it is counted, and where its page is recorded: in memory, until the server writes it. */
export interface RequestStore extends ReadStore {
  readonly usage: UsageCounter;
  readonly disclosures: {
    /** Records a page that is answered; it is in the ledger a second later at the latest. */
    note(key: KeyNumber, page: DisclosedPage, nowMs: number): void;
  };
}

/** What a server needs: counts go to the disk while it runs, and all of them when it stops. extensions/cluster has another one. */
export interface ServedStore extends RequestStore {
  /** Writes some of the counted requests and recorded pages, if nobody else is writing. */
  flush(): Flushed;
  /** Resolves when what was flushed is on the disk, which may be slow. */
  settle(): Promise<void>;
  /** Erases what is older than its account keeps, in a thread of its own, unless the clock may be wrong. */
  applyRetention(nowMs: number, hasJumped: boolean): Promise<Retained>;
  /** Whether nothing has been set up yet, so that a first start can say what to do next. */
  isEmpty(): boolean;
  /** Hears where the server listens, so that `cluster status` can ask it. Throws a UserError if it must not serve. */
  listening(url: string): Promise<void>;
  /** Writes what is left and closes the file; gives a promise where the last counts go over the network. */
  close(): void | Promise<void>;
}

/** Opens the store of the server. Throws a UserError if it cannot be used, or another process serves it. */
export function openServedStore(path: string, keepsLedger = true, now: () => number = Date.now): ServedStore {
  const release = takeLock(path);
  // A second server would grant the limit of §8 a second time.
  if (release === null) {
    const advice = "Stop that first, or set DATABASE_PATH to another file.";
    throw new UserError(`Another process is serving or restoring ${path}.`, advice);
  }
  try {
    removeStaleDrafts(path);
    return serveFrom(openForServing(path), path, { keepsLedger, now, release });
  } catch (cause) {
    release();
    throw explainFailure(cause, path);
  }
}

interface Serving {
  readonly keepsLedger: boolean;
  readonly now: () => number;
  readonly release: () => void;
}

function serveFrom(database: Connection, path: string, { keepsLedger, now, release }: Serving): ServedStore {
  const wal = openWal(path);
  const reader = openReader(database, path);
  const usage = createUsageCounter(openUsageReader(database));
  const ledger = createDisclosureLedger(() => database);
  const gaps = openGapRecorder(database, ledger.pendingSince, now());
  for (const statement of ledgerBegins(keepsLedger, now())) database.run(statement);
  const flush = createFlush(database, usage, ledger, gaps, now);
  return {
    ...reader,
    disclosures: { note: keepsLedger ? ledger.note : () => undefined },
    usage: { count: usage.count, of: guarded(usage.of) },
    // A wait would hold up every request, so the server tries again a moment later.
    flush: guarded(() => withoutWaiting(database, flush)),
    settle: createSettle(database, wal),
    applyRetention: (nowMs, hasJumped) => retainInThread(database, { path, nowMs, hasJumped }),
    listening: async () => {},
    isEmpty() {
      try {
        return listAccounts(database).length === 0;
      } catch (cause) {
        throw explainFailure(cause, path);
      }
    },
    close() {
      try {
        if (!keepsLedger) for (const statement of ledgerEnds(now())) database.run(statement);
        close(database, flush, wal, reader);
      } catch (cause) {
        throw explainFailure(cause, path);
      } finally {
        gaps.close();
        release();
      }
    },
  };
}

function openForServing(path: string): Connection {
  const database = openDatabase(path);
  database.$client.run(`PRAGMA wal_autocheckpoint = ${pagesUntilCopied.byServer}`);
  // A server writes only counts, and another thread brings them to the disk.
  database.$client.run("PRAGMA synchronous = NORMAL");
  return database;
}

/** Writes what is left, folds the log into the file, and closes in the order that keeps the locks of SQLite. */
function close(database: Connection, flush: () => Flushed, wal: Wal, reader: Reader): void {
  let written: Flushed;
  try {
    written = writeLast(flush);
    if (!truncateWal(database)) wal.fsyncNow();
  } finally {
    database.$client.close();
    reader.close();
    wal.close();
  }
  if (written === "locked") throw lastCountsLost("database is locked");
}

function writeLast(flush: () => Flushed): Flushed {
  let written: Flushed;
  try {
    do written = flush();
    while (written === "more" || written === "done");
    return written;
  } catch (cause) {
    if (!isFull(cause)) throw cause;
    throw lastCountsLost(innermost(cause));
  }
}
