/** Usage (§2.4): requests per key and UTC day, counted in memory and written twice a second. */
import { and, between, eq, sql } from "drizzle-orm";
import { dayMs, dayOf } from "../contract/time.ts";
import type { Flushed, KeyNumber, UsageCounter } from "../store/server.ts";
import type { Connection } from "./connection.ts";
import { isLocked } from "./failure.ts";
import { usage } from "./schema.ts";

export interface CountedUsage extends UsageCounter {
  /** Writes a part of what was counted, and says how it went. */
  flush(): Flushed;
}

/** Requests by UTC day and key. */
type Counts = Map<string, Map<KeyNumber, number>>;

/** The counts of so many keys take a millisecond or two, in which no request is answered. */
const keysAtOnce = 500;

/** The first and the last day that the month of a UTC day can have, as they are compared. */
export function monthOf(day: string): [first: string, last: string] {
  const month = day.slice(0, 8);
  return [`${month}01`, `${month}31`];
}

export function openUsage(database: Connection): CountedUsage {
  let pending: Counts = new Map();
  /** What was pending when the writing of it began, until it is written. */
  let leaving: Counts = new Map();
  let day = { startMs: Number.NaN, name: "" };
  const key = sql.placeholder("key");
  const ofMonth = database
    .select({ day: usage.day, requests: usage.requests })
    .from(usage)
    .where(and(eq(usage.key, key), between(usage.day, sql.placeholder("first"), sql.placeholder("last"))))
    .prepare();
  /** Formatting a date costs more than counting, so the day is kept until it is over. */
  function currentDay(nowMs: number): string {
    const startMs = nowMs - (nowMs % dayMs);
    if (startMs !== day.startMs) day = { startMs, name: dayOf(nowMs) };
    return day.name;
  }

  /** One statement for many keys: one for each took a tenth of a second where thousands of keys call. */
  function write(day: string, counts: readonly [KeyNumber, number][]): void {
    database.run(sql`
      INSERT INTO ${usage} (key, day, requests)
      SELECT value ->> 0, ${day}, value ->> 1 FROM json_each(${JSON.stringify(counts)}) WHERE TRUE
      ON CONFLICT DO UPDATE SET requests = requests + excluded.requests`);
  }

  return {
    count(key, nowMs) {
      const today = currentDay(nowMs);
      let counts = pending.get(today);
      if (counts === undefined) pending.set(today, (counts = new Map()));
      counts.set(key, (counts.get(key) ?? 0) + 1);
    },
    of(key, nowMs) {
      const today = currentDay(nowMs);
      const totals = { today: 0, month: 0 };
      const add = (day: string, requests: number) => {
        totals.month += requests;
        if (day === today) totals.today += requests;
      };
      const [first, last] = monthOf(today);
      for (const row of ofMonth.all({ key, first, last })) add(row.day, row.requests);
      for (const [day, counts] of [...leaving, ...pending]) {
        if (day >= first && day <= last) add(day, counts.get(key) ?? 0);
      }
      return totals;
    },
    flush() {
      if (leaving.size === 0) [leaving, pending] = [pending, leaving];
      const [oldest] = leaving;
      if (oldest === undefined) return "idle";
      const [day, counts] = oldest;
      const part = [...counts.entries().take(keysAtOnce)];
      try {
        write(day, part);
      } catch (cause) {
        if (isLocked(cause)) return "locked";
        throw cause;
      }
      for (const [key] of part) counts.delete(key);
      if (counts.size === 0) leaving.delete(day);
      return leaving.size === 0 ? "done" : "more";
    },
  };
}
