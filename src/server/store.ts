/** The store of a server on the one file: what its requests read, and the counts of them, which it writes. */
import { rmSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import type { RequestStore } from "../api/request-store.ts";
import { inThread } from "../backup/thread.ts";
import type { Connection } from "../db/connection.ts";
import { removeAbandonedDrafts } from "../db/database-files.ts";
import { explainFailure, innermost, isFull, isLocked, lastCountsLost } from "../db/failure.ts";
import { takeLock, writeWhenFree } from "../db/locks.ts";
import { openDatabase } from "../db/open.ts";
import { openReader } from "../db/reader.ts";
import type { Flushed } from "../db/usage.ts";
import { createSync, openWal, pagesUntilCopied, truncateWal } from "../db/wal.ts";
import { type applyRetentionAt, isRetentionDue, type Retained } from "../privacy/retention.ts";
import { openFileOutbox } from "../privacy/sent/file-outbox.ts";
import { UserError } from "../runtime/user-error.ts";

/** The store of a server: counts are written while it runs, and all of them when it stops. extensions/cluster has another. */
export interface ServedStore extends RequestStore {
  /** Writes some of the counted requests and recorded pages, if nobody else is writing. */
  flush(): Flushed;
  /** Resolves when the flushed data is on the disk, which may be slow. */
  fsync(): Promise<void>;
  /** Erases leads that are older than the retention period of their account, in another thread, unless the clock may be wrong. */
  applyRetention(nowMs: number): Promise<Retained>;
  /** Takes the address that the server listens on, so that `cluster status` can ask it. Throws a UserError if it must not serve. */
  listening(url: string): Promise<void>;
  /** Writes the rest of the outbox and closes the file. Returns a promise if the last counts are sent over the network. */
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
    removeAbandonedDrafts(dirname(path), 0);
    return serveFrom(openForServing(path), path, { keepsLedger, now, release });
  } catch (cause) {
    release();
    throw explainFailure(cause, path);
  }
}

function openForServing(path: string): Connection {
  const database = openDatabase(path);
  database.$client.run(`PRAGMA wal_autocheckpoint = ${pagesUntilCopied.byServer}`);
  // A server writes only counts, and another thread brings them to the disk.
  database.$client.run("PRAGMA synchronous = NORMAL");
  return database;
}

/** Another program that writes much runs its own checkpoint within this time. */
const othersCopyWithinMs = 10_000;

interface Serving {
  readonly keepsLedger: boolean;
  readonly now: () => number;
  readonly release: () => void;
}

function serveFrom(database: Connection, path: string, { keepsLedger, now, release }: Serving): ServedStore {
  const wal = openWal(path);
  const reader = openReader(database, path);
  // Before anything is served: a damaged file may say so here first.
  reader.probe();
  const { usage, sent, flush, stop } = openFileOutbox(database, keepsLedger, now);
  const retention = openRetention(database, path);
  const reserve = `${path}.reserve`;
  let othersWroteMs = Number.NEGATIVE_INFINITY;
  tryOnDisk(() => {
    // A new file, because a kill may have left one, and only a new one is certain to have its room.
    rmSync(reserve, { force: true });
    writeFileSync(reserve, Buffer.alloc(reserveBytes, 1), { mode: 0o600 });
    writeWhenFree(database.$client, flush);
  });

  function writeLast(): void {
    writeAll(database, flush);
    writeWhenFree(database.$client, stop);
  }

  return {
    ...reader,
    usage,
    sent,
    // A wait would hold up every request, so the server tries again some milliseconds later.
    flush() {
      const flushed = tryNow(database, flush);
      if (flushed === "locked") othersWroteMs = performance.now();
      // SQLite runs a checkpoint within a commit. After an erasure, that would block all requests for seconds.
      const isTheirs = performance.now() - othersWroteMs < othersCopyWithinMs;
      database.$client.run(`PRAGMA wal_autocheckpoint = ${isTheirs ? 0 : pagesUntilCopied.byServer}`);
      return flushed;
    },
    fsync: createSync(database, wal),
    applyRetention: retention.apply,
    listening: async () => {},
    close() {
      try {
        if (!tryOnDisk(writeLast)) {
          rmSync(reserve, { force: true });
          writeLast();
        }
        // Without room for it in the file, the log keeps what was written.
        if (!tryOnDisk(() => truncateWal(database))) wal.fsyncNow();
      } catch (cause) {
        throw isFull(cause) || isLocked(cause) ? lastCountsLost(innermost(cause)) : explainFailure(cause, path);
      } finally {
        // In this order SQLite keeps its locks until its files are closed.
        database.$client.close(true);
        // Closing would also release the locks of a retention, whose thread runs until the process ends.
        if (!retention.isRunning()) reader.close();
        wal.close();
        rmSync(reserve, { force: true });
        release();
      }
    },
  };
}

/** Erases in a thread, which runs until the process ends. */
function openRetention(database: Connection, path: string) {
  let running = 0;
  return {
    isRunning: () => running > 0,
    async apply(nowMs: number): Promise<Retained> {
      if (!isRetentionDue(database, nowMs)) return { erased: 0, waiting: [] };
      running++;
      const retained = inThread<typeof applyRetentionAt>("applyRetentionAt", { path, nowMs });
      return await retained.finally(() => running--);
    },
  };
}

/** The room that a server reserves on its disk, so that an orderly stop on a full disk can write the last counts. */
export const reserveBytes = 1 << 20;

/** Runs the work. Returns false if the disk is full, or if the work returned false. Throws any other failure. */
function tryOnDisk(work: () => unknown): boolean {
  try {
    return work() !== false;
  } catch (cause) {
    if (isFull(cause)) return false;
    throw cause;
  }
}

/** Writes one part without waiting. Returns "locked" if another program is writing. */
function tryNow({ $client }: Connection, flush: () => Flushed): Flushed {
  try {
    return writeWhenFree($client, flush, 0);
  } catch (cause) {
    if (isLocked(cause)) return "locked";
    throw cause;
  }
}

/** Writes all of the outbox, part by part. Throws if another program keeps the file locked. */
function writeAll({ $client }: Connection, flush: () => Flushed): void {
  let written: Flushed;
  do written = writeWhenFree($client, flush);
  while (written !== "idle");
}
