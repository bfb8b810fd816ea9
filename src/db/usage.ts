/** Usage (§2.4): the stored request counts of each key. */
import { and, between, eq, type SQL, sql, sum } from "drizzle-orm";
import { dayOf, monthOf } from "../contract/calendar.ts";
import type { Connection } from "./connection.ts";
import type { KeyNumber } from "./keys.ts";
import { keys, usage } from "./schema.ts";

/**
 * The result of writing counts. idle: there was nothing to write. done: everything is written that was counted when it
 * began. more: a part is written, and others may write before the next. locked: another program was writing.
 */
export type Flushed = "idle" | "done" | "more" | "locked";

/** The stored request counts. */
export type StoredUsage = Pick<ReturnType<typeof openUsageReader>, "between">;

/** Prepares the query for the stored counts of a key from one UTC day to another, both included. */
export function openUsageReader(database: Connection) {
  const inDays = between(usage.day, sql.placeholder("first"), sql.placeholder("last"));
  const stored = database
    .select({ day: usage.day, requests: usage.requests })
    .from(usage)
    .where(and(eq(usage.key, sql.placeholder("key")), inDays))
    .prepare();
  return { between: (key: KeyNumber, first: string, last: string) => stored.all({ key, first, last }) };
}

/**
 * Returns one statement that adds the requests of a UTC day: with one statement per key, thousands of keys took a tenth of a
 * second. A key whose account was deleted since is left out.
 */
export function usageStatement(day: string, counts: readonly (readonly [key: KeyNumber, requests: number])[]): SQL {
  return sql`
    INSERT INTO ${usage} (key, day, requests)
    SELECT value ->> 0, ${day}, value ->> 1 FROM json_each(${JSON.stringify(counts)})
    WHERE value ->> 0 IN (SELECT number FROM keys)
    ON CONFLICT DO UPDATE SET requests = requests + excluded.requests`;
}

/** Returns the stored requests of a key in the UTC month of a time. */
export function requestsOfMonth(read: Connection, id: string, nowMs: number): number {
  const counted = read
    .select({ requests: sum(usage.requests).mapWith(Number) })
    .from(usage)
    .innerJoin(keys, eq(keys.number, usage.key))
    .where(and(eq(keys.id, id), between(usage.day, ...monthOf(dayOf(nowMs)))))
    .get();
  return counted?.requests ?? 0;
}
