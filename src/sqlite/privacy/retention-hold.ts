/** Retention waits where the clock may be wrong, because nothing brings back what it erases. */
import { desc, eq, sql } from "drizzle-orm";
import { dayMs } from "../../contract/time.ts";
import { recordAct } from "../audit.ts";
import type { Connection } from "../connection.ts";
import { audit, usage } from "../schema.ts";

/** A server may have been off, or without requests, for so long. */
const usualGapMs = 7 * dayMs;
/** Time to set the clock right, or to see that it is. */
const waitMs = dayMs;
const act = "retain.wait";

/**
 * Until when the retention of the server waits, in Unix milliseconds; null when it need not wait. It waits when the clock
 * has jumped, or is far ahead of everything in the file. The wait is put on record, so it outlives a restart.
 */
export function waitUntil(database: Connection, nowMs: number, hasJumped: boolean): number | null {
  const begun = lastWait(database);
  if (begun !== null && nowMs >= begun && nowMs < begun + waitMs) return begun + waitMs;
  const known = newestMoment(database);
  if (!hasJumped && (known === null || nowMs - known <= usualGapMs)) return null;
  recordAct(database, { atMs: nowMs, act, account: null, detail: {} });
  return nowMs + waitMs;
}

function lastWait(database: Connection): number | null {
  const last = database.select({ at: audit.at }).from(audit).where(eq(audit.act, act)).orderBy(desc(audit.number));
  return last.limit(1).get()?.at ?? null;
}

/** When something was last put on record, or the end of the last day with requests. */
function newestMoment(database: Connection): number | null {
  const [row] = database.values<[number | null]>(sql`
    SELECT max(ms) FROM (
      SELECT max(${audit.at}) AS ms FROM ${audit} UNION ALL
      SELECT unixepoch(max(${usage.day})) * 1000 + ${dayMs} FROM ${usage})`);
  return row?.[0] ?? null;
}
