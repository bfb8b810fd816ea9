/** The two stores on one file: the one that answers requests, and the one that the admin command works with. */
import { count, sql } from "drizzle-orm";
import type { AdminStore } from "../store/admin.ts";
import { type Flushed, type ServedStore, StoreFailure } from "../store/server.ts";
import { UserError } from "../user-error.ts";
import { openAccounts } from "./accounts.ts";
import { openAudit } from "./audit.ts";
import { watchCommits } from "./commits.ts";
import type { Connection } from "./connection.ts";
import { sizeOf, watchFile } from "./file.ts";
import { beginImport } from "./import/import.ts";
import { startImportWorker } from "./import/worker-client.ts";
import { cacheKeys } from "./key-cache.ts";
import { openKeyFinder, openKeys } from "./keys.ts";
import { exportDocuments, openLeads } from "./leads.ts";
import { openDatabase, withoutWaiting } from "./open.ts";
import { openPixels } from "./pixels.ts";
import { openPeople } from "./privacy/people.ts";
import { isRetentionDue, openRetention } from "./privacy/retention.ts";
import { applyRetentionInWorker } from "./privacy/retention-worker-client.ts";
import { accounts, leads as stored } from "./schema.ts";
import { readStats } from "./stats.ts";
import { openUsage } from "./usage.ts";
import { openWal, truncateWal } from "./wal.ts";

/** Opens the store of the server. Throws a UserError when the file cannot be used. */
export function openServedStore(path: string): ServedStore {
  const database = openDatabase(path);
  // Who imports copies the log into the file before that; a server that did it would let requests wait.
  database.run(sql`PRAGMA wal_autocheckpoint = 9000`);
  // All that is written here are counts, which are put on the disk beside the requests.
  database.run(sql`PRAGMA synchronous = NORMAL`);
  const log = openWal(path);
  const watch = watchFile(path);
  const commits = watchCommits(database, path);
  const keys = cacheKeys(openKeyFinder(database));
  const pixels = openPixels(database);
  const leads = openLeads(database);
  const usage = openUsage(database);
  const first = database.select({ number: accounts.number }).from(accounts).limit(1).prepare();

  /** The caller learns that the store failed, the log learns why. */
  const guarded =
    <Asked extends unknown[], Answer>(work: (...asked: Asked) => Answer) =>
    (...asked: Asked): Answer => {
      try {
        return work(...asked);
      } catch (cause) {
        throw new StoreFailure("the database failed", { cause });
      }
    };

  const leadCount = countLeads(database);
  const begin = database.$client.prepare("BEGIN");
  // Nothing is written. After a failed read a COMMIT fails as well, and a ROLLBACK does not.
  const end = database.$client.prepare("ROLLBACK");
  let version = 0;
  let isLookedAt = false;

  /** Whether this is still the file that was opened, and what others have written to it. */
  function look(): void {
    watch.assertSame();
    if (!commits.newer()) return;
    version++;
    keys.forget();
  }

  let isLogWhole = true;

  /** After a sync that failed the log has a gap, and no other sync would mend it. */
  async function settle(): Promise<void> {
    if (!isLogWhole) isLogWhole = withoutWaiting(database, () => truncateWal(database));
    if (!isLogWhole) throw new Error("another program keeps the log of the database in use");
    isLogWhole = false;
    await log.fsync();
    isLogWhole = true;
  }

  /** One look and one read transaction for all: its locks alone take a tenth of the time of a page. */
  function together(work: () => void): void {
    try {
      look();
      begin.run();
      isLookedAt = true;
    } catch {
      // Each request finds the same for itself, and tells its client.
    }
    try {
      work();
    } finally {
      isLookedAt = false;
      // What failed in it may have ended it already.
      if (database.$client.inTransaction) end.run();
    }
  }

  return {
    keys: {
      find: guarded((digest) => {
        if (!isLookedAt) look();
        return keys.find(digest);
      }),
    },
    pixels: { list: guarded(pixels.list), has: guarded(pixels.has) },
    leads: { page: guarded(leads.page) },
    usage: { count: usage.count, of: guarded(usage.of) },
    version: () => version,
    together,
    probe: guarded(() => {
      watch.assertSame();
      first.values();
    }),
    sizes: () => ({ fileBytes: sizeOf(path), logBytes: sizeOf(`${path}-wal`), leads: leadCount() }),
    // A wait would hold up every request: the server tries again a moment later instead.
    flush: guarded(() => withoutWaiting(database, usage.flush)),
    settle,
    applyRetention: async (nowMs, hasJumped) =>
      isRetentionDue(database, nowMs)
        ? applyRetentionInWorker(path, nowMs, hasJumped)
        : { erased: 0, waitsUntilMs: null },
    isEmpty: () => first.values().length === 0,
    close() {
      let written: Flushed;
      do written = usage.flush();
      while (written === "more" || written === "done");
      try {
        if (!truncateWal(database)) log.fsyncNow();
      } finally {
        database.$client.close();
        commits.close();
        watch.close();
        log.close();
      }
      if (written === "locked")
        throw new UserError("The last counts of usage could not be written: another program kept the file locked.", "");
    },
  };
}

/** Counting a million leads takes 10 ms in which nothing else is answered: once a minute is often enough. */
function countLeads(database: Connection): () => number {
  const all = database.select({ leads: count() }).from(stored).prepare();
  let counted = { atMs: Number.NEGATIVE_INFINITY, leads: 0 };
  return () => {
    const nowMs = performance.now();
    if (nowMs - counted.atMs > 60_000) {
      try {
        counted = { atMs: nowMs, leads: all.get()?.leads ?? 0 };
      } catch {
        // The other metrics are wanted most when the database fails; /healthz says that it does.
      }
    }
    return counted.leads;
  };
}

/** Opens the store of the admin command. Throws a UserError when the file cannot be used. */
export function openAdminStore(path: string): AdminStore {
  const database = openDatabase(path);
  return {
    accounts: openAccounts(database),
    pixels: openPixels(database),
    keys: openKeys(database),
    leads: {
      ...openLeads(database),
      beginImport: (account, options) => beginImport(database, account, options),
      startImportWorker: (account, options) => startImportWorker({ path, account, options }),
      export: (account) => exportDocuments(database, account),
    },
    stats: (account, sinceMs) => readStats(database, account, sinceMs),
    people: openPeople(database, path),
    retention: openRetention(database, path),
    audit: openAudit(database),
    close: () => database.$client.close(),
  };
}
