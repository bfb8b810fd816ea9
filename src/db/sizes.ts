/** The sizes of what can grow, and the times that alerts are about, for GET /metrics. */
import { count, type SQL, sql } from "drizzle-orm";
import type { Connection } from "./connection.ts";
import { freeBytesAt, sizeOf, walOf } from "./database-files.ts";
import { orElse } from "./failure.ts";
import { hasBrought } from "./imports.ts";
import { leads } from "./schema.ts";

/** Prepares reading the sizes. Times are Unix milliseconds. */
export function measureSizes(database: Connection, path: string) {
  const countLeads = database.select({ count: count() }).from(leads).prepare();
  const backup = (value: SQL) =>
    sql`(SELECT ${value} FROM audit WHERE act = 'backup.verified' ORDER BY number DESC LIMIT 1)`;
  const newestOfAccount = sql`SELECT max(identified_at) FROM stored_leads WHERE account = accounts.number`;
  const readTimes = (nowMs: number) =>
    database.values<(number | null)[]>(sql`
      SELECT ${backup(sql`at`)}, ${backup(sql`detail ->> '$.bytes'`)},
        (SELECT max(finished_at) FROM imports WHERE ${hasBrought}),
        (SELECT min(expires_at) FROM keys WHERE revoked_at IS NULL AND expires_at > ${nowMs}),
        (SELECT max((${newestOfAccount})) FROM accounts)`)[0];
  let counted = { atMs: Number.NEGATIVE_INFINITY, leads: 0 };
  // If the database fails, the other metrics are needed most; /healthz reports the failure.
  return (nowMs: number) => {
    // Counting a million leads takes 10 ms in which nothing else is answered: once a minute is often enough.
    if (performance.now() - counted.atMs > 60_000) {
      counted = orElse(() => ({ atMs: performance.now(), leads: countLeads.get()?.count ?? 0 }), counted);
    }
    const [backupMs = null, backupBytes = null, lastImportMs = null, nextKeyExpiryMs = null, newestLeadMs = null] =
      orElse(() => readTimes(nowMs), undefined) ?? [];
    return {
      fileBytes: sizeOf(path),
      /** The bytes of the write-ahead log. */
      logBytes: sizeOf(walOf(path)),
      /** The number of leads, at most a minute old. */
      leads: counted.leads,
      /** The time at which the last import that added leads ended; null if there was none. */
      lastImportMs,
      /** The last backup that was made and verified for BACKUP_TO or s3://; null if there was none. */
      lastBackup: backupMs === null ? null : { atMs: backupMs, bytes: backupBytes ?? 0 },
      /** The time at which the next live key expires; null if none does. */
      nextKeyExpiryMs,
      newestLeadMs,
      /** Free on the disk of the database. */
      freeBytes: orElse(() => freeBytesAt(path), null),
    };
  };
}
