/** Usage (§2.4) in the file: what was kept of it, and how counts are added. */
import { and, between, eq, sql, sum } from "drizzle-orm";
import { dayOf, monthOf } from "../contract/calendar.ts";
import type { Connection } from "./connection.ts";
import { keys, usage } from "./schema.ts";
import type { UsagePart, UsageReader } from "./usage-counter.ts";

/** Reads what is kept; it writes nothing. */
export function openUsageReader(database: Connection): UsageReader {
  const kept = database
    .select({ day: usage.day, requests: usage.requests })
    .from(usage)
    .where(
      and(eq(usage.key, sql.placeholder("key")), between(usage.day, sql.placeholder("first"), sql.placeholder("last"))),
    )
    .prepare();
  return { between: (key, first, last) => kept.all({ key, first, last }) };
}

/** Adds a part in one statement: one for each key took a tenth of a second where thousands of keys call. */
export function addUsage(database: Connection, { day, counts }: UsagePart): void {
  database.run(sql`
    INSERT INTO ${usage} (key, day, requests)
    SELECT value ->> 0, ${day}, value ->> 1 FROM json_each(${JSON.stringify(counts)}) WHERE TRUE
    ON CONFLICT DO UPDATE SET requests = requests + excluded.requests`);
}

/** Counts the requests of a key in the UTC month of a time, as far as they are in the database. */
export function requestsOfMonth(read: Connection, id: string, nowMs: number): number {
  const inMonth = between(usage.day, ...monthOf(dayOf(nowMs)));
  const counted = read
    .select({ requests: sum(usage.requests).mapWith(Number) })
    .from(usage)
    .innerJoin(keys, eq(keys.number, usage.key))
    .where(and(eq(keys.id, id), inMonth))
    .get();
  return counted?.requests ?? 0;
}
