/** The store of a server on the one file: what its requests read, and the counts of them, which it writes. */
import { sql } from "drizzle-orm";
import { ledgerBegins, ledgerEnds, openGapMarker } from "../privacy/disclosures/gaps.ts";
import { openDisclosureReader } from "../privacy/disclosures/ledger.ts";
import { createDisclosureLedger } from "../privacy/disclosures/pages.ts";
import { retainInThread } from "../privacy/retention-thread.ts";
import { UserError } from "../user-error.ts";
import type { Connection } from "./connection.ts";
import { explainFailure, innermost, isFull, lastCountsLost } from "./failure.ts";
import { createFlush, createGapRecorder, createSettle, withoutWaiting } from "./flush.ts";
import { takeLock } from "./locks/process-lock.ts";
import { openDatabase } from "./open.ts";
import { guarded, openReader, type Reader } from "./reader.ts";
import { accounts } from "./schema.ts";
import type { ServedStore } from "./serving.ts";
import { openUsageReader } from "./usage.ts";
import type { Flushed } from "./usage-counter.ts";
import { createUsageCounter } from "./usage-counter.ts";
import { openWal, pagesUntilCopied, truncateWal, type Wal } from "./wal.ts";

/** Opens the store of the server. Throws a UserError if it cannot be used, or another process serves it. */
export function openServedStore(path: string, keepsLedger = true): ServedStore {
  const release = takeLock(path);
  // A second server would grant the limit of §8 a second time.
  if (release === null) {
    const advice = "Stop that first, or set DATABASE_PATH to another file.";
    throw new UserError(`Another process is serving or restoring ${path}.`, advice);
  }
  try {
    return serveFrom(openForServing(path), path, keepsLedger, release);
  } catch (cause) {
    release();
    throw explainFailure(cause, path);
  }
}

function serveFrom(database: Connection, path: string, keepsLedger: boolean, release: () => void): ServedStore {
  const wal = openWal(path);
  const reader = openReader(database, path);
  const usage = createUsageCounter(openUsageReader(database));
  const disclosureReader = openDisclosureReader(database);
  const ledger = createDisclosureLedger(() => disclosureReader);
  const marker = openGapMarker(path);
  const gaps = createGapRecorder(database, ledger, marker);
  gaps.succeeded(Date.now());
  for (const statement of ledgerBegins(keepsLedger, Date.now())) database.run(statement);
  const flush = createFlush(database, usage, ledger, gaps);
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
        return database.select({ number: accounts.number }).from(accounts).limit(1).values().length === 0;
      } catch (cause) {
        throw explainFailure(cause, path);
      }
    },
    close() {
      try {
        if (!keepsLedger) for (const statement of ledgerEnds(Date.now())) database.run(statement);
        close(database, flush, wal, reader);
      } catch (cause) {
        throw explainFailure(cause, path);
      } finally {
        marker.close();
        release();
      }
    },
  };
}

function openForServing(path: string): Connection {
  const database = openDatabase(path);
  database.$client.run(`PRAGMA wal_autocheckpoint = ${pagesUntilCopied.byServer}`);
  // A server writes only counts, and another thread brings them to the disk.
  database.run(sql`PRAGMA synchronous = NORMAL`);
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
