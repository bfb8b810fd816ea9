/** The store of a server on the one file: what its requests read, and the counts of them, which it writes. */
import { sql } from "drizzle-orm";
import { createDisclosureLedger } from "../store/disclosure-ledger.ts";
import { StoreError } from "../store/errors.ts";
import type { ServedStore } from "../store/serving.ts";
import type { Flushed } from "../store/usage.ts";
import { createUsageCounter } from "../store/usage-counter.ts";
import type { Connection } from "./connection.ts";
import { isLocked, storeErrorOf } from "./failure.ts";
import { keepDescriptors } from "./file.ts";
import { lockWaitMs } from "./locks/lock-wait.ts";
import { lockForServing } from "./locks/server-lock.ts";
import { openDatabase } from "./open.ts";
import { openDisclosureReader, openDisclosureWriter } from "./privacy/ledger/disclosures.ts";
import { isRetentionDue } from "./privacy/retention.ts";
import { applyRetentionInWorker } from "./privacy/retention-worker-client.ts";
import { guarded, openReader, type Reader } from "./reading/reader.ts";
import { accounts } from "./schema.ts";
import { addUsage, openUsageReader } from "./usage.ts";
import { openWal, pagesUntilCopied, truncateWal, type Wal } from "./wal.ts";

/** Opens the store of the server. Throws a StoreError when the file cannot be used, or another process serves it. */
export function openServedStore(path: string, keepsLedger = true): ServedStore {
  const release = lockForServing(path);
  // A second server would grant the limit of §8 a second time.
  if (release === null) throw new StoreError({ kind: "served by another process", path });
  try {
    return serveFrom(openForServing(path), path, keepsLedger, release);
  } catch (cause) {
    release();
    throw cause;
  }
}

function serveFrom(database: Connection, path: string, keepsLedger: boolean, release: () => void): ServedStore {
  const wal = openWal(path);
  const reader = openReader(database, path);
  const usage = createUsageCounter(openUsageReader(database));
  const ledger = createDisclosureLedger(openDisclosureReader(database));
  const writeDisclosures = openDisclosureWriter(database);
  const descriptors = keepDescriptors();
  const flushBoth = () => {
    const counted = flush(usage, (part) => addUsage(database, part));
    if (counted === "locked" || counted === "more") return counted;
    const noted = flush(ledger, writeDisclosures);
    return noted === "idle" ? counted : noted;
  };
  return {
    ...reader,
    disclosures: { note: keepsLedger ? ledger.note : () => undefined },
    usage: { count: usage.count, of: guarded(usage.of) },
    // A wait would hold up every request, so the server tries again a moment later.
    flush: guarded(() => withoutWaiting(database, flushBoth)),
    settle: settling(database, wal),
    applyRetention: async (nowMs, hasJumped) =>
      isRetentionDue(database, nowMs)
        ? applyRetentionInWorker(path, descriptors, nowMs, hasJumped)
        : { erased: 0, waitsUntilMs: null },
    listening: () => {},
    isEmpty: () => database.select({ number: accounts.number }).from(accounts).limit(1).values().length === 0,
    close() {
      try {
        close(database, flushBoth, wal, reader);
      } catch (cause) {
        throw storeErrorOf(cause, path);
      } finally {
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

/** Does something that must not wait for other programs: it fails when the file is locked. */
function withoutWaiting<Result>(database: Connection, work: () => Result): Result {
  database.$client.run("PRAGMA busy_timeout = 0");
  try {
    return work();
  } finally {
    database.$client.run(`PRAGMA busy_timeout = ${lockWaitMs.toWrite}`);
  }
}

/** What is written in parts. */
interface Pending<Part> {
  next(): Part | null;
  drop(part: Part): boolean;
}

/** Writes a part, and says how far that came. */
function flush<Part>(pending: Pending<Part>, write: (part: Part) => void): Flushed {
  const part = pending.next();
  if (part === null) return "idle";
  try {
    write(part);
  } catch (cause) {
    if (isLocked(cause)) return "locked";
    throw cause;
  }
  return pending.drop(part) ? "more" : "done";
}

/** Brings the log to the disk. After a failed sync the log has a gap, which no later sync mends. */
function settling(database: Connection, wal: Wal): () => Promise<void> {
  let isWhole = true;
  return async () => {
    if (!isWhole) isWhole = withoutWaiting(database, () => truncateWal(database));
    if (!isWhole) throw new Error("another program keeps the log of the database in use");
    isWhole = false;
    await wal.fsync();
    isWhole = true;
  };
}

/** Writes what is left, folds the log into the file, and closes in the order that keeps the locks of SQLite. */
function close(database: Connection, flush: () => Flushed, wal: Wal, reader: Reader): void {
  let written: Flushed;
  try {
    do written = flush();
    while (written === "more" || written === "done");
    if (!truncateWal(database)) wal.fsyncNow();
  } finally {
    database.$client.close();
    reader.close();
    wal.close();
  }
  if (written === "locked") throw new StoreError({ kind: "usage not written" });
}
