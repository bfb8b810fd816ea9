/** Usage (§2.4): the requests of each key, counted in memory until they are written, and read from the file. */
import { and, between, eq, type SQL, sql, sum } from "drizzle-orm";
import { dayMs, dayOf, monthOf } from "../contract/calendar.ts";
import type { Connection } from "./connection.ts";
import type { KeyNumber } from "./keys.ts";
import { keys, usage } from "./schema.ts";

/** Requests of some keys on one UTC day. */
export interface UsagePart {
  /** `2026-01-31` */
  readonly day: string;
  readonly counts: readonly (readonly [key: KeyNumber, requests: number])[];
}

/**
 * The result of writing counts. idle: there was nothing to write. done: everything is written that was counted when it
 * began. more: a part is written, and others may write before the next. locked: another program was writing.
 */
export type Flushed = "idle" | "done" | "more" | "locked";

/** Counts by the number of a UTC day since 1970, which costs less than its name, and by key. */
type Counts = Map<number, Map<KeyNumber, number>>;

/** To write the counts of this many keys takes one or two milliseconds, in which no request is answered. */
const maxKeysPerPart = 500;

/** The requests that were counted, whether they are in the database already or not. */
export type CountedUsage = ReturnType<typeof createUsageCounter>;

/**
 * Creates the counter of requests, on top of those that a reader finds in the database. Counts leave it in parts: in a
 * cluster they are not written to the file from which requests are answered.
 */
export function createUsageCounter(stored: ReturnType<typeof openUsageReader>) {
  let pending: Counts = new Map();
  /** The counts that were pending when the writing began, until they are in the database. */
  let leaving: Counts = new Map();

  return {
    /** Counts one request. It is on the disk within a second. */
    count(key: KeyNumber, nowMs: number): void {
      const day = Math.floor(nowMs / dayMs);
      const counts = pending.getOrInsertComputed(day, () => new Map());
      counts.set(key, (counts.get(key) ?? 0) + 1);
    },
    /** Returns the requests of the current UTC day and month. */
    of(key: KeyNumber, nowMs: number): { readonly today: number; readonly month: number } {
      const today = dayOf(nowMs);
      const [first, last] = monthOf(today);
      const totals = { today: 0, month: 0 };
      const add = (day: string, requests: number) => {
        if (day < first || day > last) return;
        totals.month += requests;
        if (day === today) totals.today += requests;
      };
      for (const { day, requests } of stored.between(key, first, last)) add(day, requests);
      for (const [day, counts] of [...leaving, ...pending]) add(dayOf(day * dayMs), counts.get(key) ?? 0);
      return totals;
    },
    /** Returns some of the pending counts, the oldest first; null if there are none. They stay counted until `drop`. */
    next(): UsagePart | null {
      if (leaving.size === 0) [leaving, pending] = [pending, leaving];
      const [oldest] = leaving;
      if (oldest === undefined) return null;
      const [day, counts] = oldest;
      return { day: dayOf(day * dayMs), counts: [...counts.entries().take(maxKeysPerPart)] };
    },
    /** Drops a part that is in the database now. Returns true while more is left of what was pending at the first part. */
    drop({ day: name, counts }: UsagePart): boolean {
      const day = Date.parse(name) / dayMs;
      const left = leaving.get(day);
      for (const [key] of counts) left?.delete(key);
      if (left?.size === 0) leaving.delete(day);
      return leaving.size > 0;
    },
  };
}

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
 * Returns one statement that adds a part: one for each key took a tenth of a second where thousands of keys call. A key whose
 * account was deleted since its last requests is left out.
 */
export function usageStatement({ day, counts }: UsagePart): SQL {
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
