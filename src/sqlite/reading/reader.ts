/**
 * What requests read, on a connection that is open. Nothing here writes, so that it may be a read-only connection to a file
 * that another program writes, such as a replica.
 */
import { count } from "drizzle-orm";
import { walOf } from "../../store/database-files.ts";
import { type ReadStore, StoreFailure } from "../../store/reading.ts";
import type { Connection } from "../connection.ts";
import { sizeOf, watchFile } from "../file.ts";
import { openLastImport } from "../import/last-import.ts";
import { openKeyFinder } from "../keys.ts";
import { openPixelReader } from "../pixels.ts";
import { accounts, leads as stored } from "../schema.ts";
import { watchChanges } from "./changes.ts";
import { cacheKeys } from "./key-cache.ts";
import { openLeads } from "./leads.ts";

export interface Reader extends ReadStore {
  /** Call this after the connection is closed: closing a descriptor before would drop the locks of SQLite. */
  close(): void;
}

/** Opens what requests read from the file at a path, over a connection to it. */
export function openReader(database: Connection, path: string): Reader {
  const file = watchFile(path);
  const changes = watchChanges(database);
  const keys = cacheKeys(openKeyFinder(database));
  const pixels = openPixelReader(database);
  const leads = openLeads(database);
  const anyAccount = database.select({ number: accounts.number }).from(accounts).limit(1).prepare();
  const leadCount = countLeads(database);
  const lastImport = evenWhereItFails(openLastImport(database), null);
  let version = changes();
  return {
    refresh: guarded(() => {
      file.assertSame();
      const now = changes();
      if (now !== version) keys.forget();
      version = now;
    }),
    version: () => version,
    keys: { find: guarded(keys.find) },
    pixels: { list: guarded(pixels.list), has: guarded(pixels.has) },
    leads: { page: guarded(leads.page) },
    probe: guarded(() => {
      file.assertSame();
      anyAccount.values();
    }),
    sizes: () => ({
      fileBytes: sizeOf(path),
      logBytes: sizeOf(walOf(path)),
      leads: leadCount(),
      lastImportMs: lastImport(),
    }),
    close: () => file.close(),
  };
}

/** Does the work. Where it fails, the caller learns that the store failed, and only the log learns why. */
export function guarded<Asked extends unknown[], Answer>(
  work: (...asked: Asked) => Answer,
): (...asked: Asked) => Answer {
  return (...asked) => {
    try {
      return work(...asked);
    } catch (cause) {
      throw new StoreFailure("the database failed", { cause });
    }
  };
}

/** When the database fails, the other metrics are needed most; /healthz says that it fails. */
function evenWhereItFails<Answer>(ask: () => Answer, otherwise: Answer): () => Answer {
  return () => {
    try {
      return ask();
    } catch {
      return otherwise;
    }
  };
}

/** Counting a million leads takes 10 ms in which nothing else is answered: once a minute is often enough. */
function countLeads(database: Connection): () => number {
  const all = database.select({ leads: count() }).from(stored).prepare();
  let counted = { atMs: Number.NEGATIVE_INFINITY, leads: 0 };
  const countNow = evenWhereItFails(() => all.get()?.leads ?? 0, null);
  return () => {
    const nowMs = performance.now();
    if (nowMs - counted.atMs <= 60_000) return counted.leads;
    const leads = countNow();
    if (leads !== null) counted = { atMs: nowMs, leads };
    return counted.leads;
  };
}
