/** The sizes of what can grow, for the metrics. */
import { statfsSync } from "node:fs";
import { dirname } from "node:path";
import { count, type SQL, sql } from "drizzle-orm";
import type { Connection } from "./connection.ts";
import { walOf } from "./database-files.ts";
import { sizeOf } from "./file.ts";
import { openLastImport } from "./imports.ts";
import { leads as stored } from "./schema.ts";
import type { StoreSizes } from "./serving.ts";

export function measureSizes(database: Connection, path: string): () => StoreSizes {
  const leadCount = countLeads(database);
  const upkeep = measureUpkeep(database, path);
  const lastImport = evenWhereItFails(openLastImport(database), null);
  return () => ({
    fileBytes: sizeOf(path),
    logBytes: sizeOf(walOf(path)),
    leads: leadCount(),
    lastImportMs: lastImport(),
    ...upkeep(),
  });
}

type Upkeep = Pick<StoreSizes, "lastBackup" | "nextKeyExpiryMs" | "newestLeadMs" | "freeBytes">;

/** What alerts are about. */
function measureUpkeep(database: Connection, path: string): () => Upkeep {
  const numbers = (query: SQL) => database.values<(number | null)[]>(query)[0] ?? [];
  const nothing = { lastBackup: null, nextKeyExpiryMs: null, newestLeadMs: null, freeBytes: null };
  return evenWhereItFails((): Upkeep => {
    const [atMs, bytes] = numbers(sql`
      SELECT at, detail ->> '$.bytes' FROM audit WHERE act = 'backup.verified' ORDER BY number DESC LIMIT 1`);
    const [nextKeyExpiryMs = null] = numbers(
      sql`SELECT min(expires_at) FROM keys WHERE revoked_at IS NULL AND expires_at > ${Date.now()}`,
    );
    const [newestLeadMs = null] = numbers(sql`
      SELECT max((SELECT max(identified_at) FROM stored_leads WHERE account = accounts.number)) FROM accounts`);
    const { bavail, bsize } = statfsSync(dirname(path));
    return {
      lastBackup: atMs == null ? null : { atMs, bytes: bytes ?? 0 },
      nextKeyExpiryMs,
      newestLeadMs,
      freeBytes: bavail * bsize,
    };
  }, nothing);
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
