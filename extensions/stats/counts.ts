/** Counts of an account: leads by day, pixel, state, and source, and requests by key and day. */
import { and, asc, count, eq, gte, isNull, max, sql } from "drizzle-orm";
import { dayMs, dayOf } from "../../src/contract/calendar.ts";
import type { AccountNumber } from "../../src/db/accounts.ts";
import type { Connection } from "../../src/db/connection.ts";
import { hasBrought } from "../../src/db/imports.ts";
import { imports, keys, leads, pixels, usage } from "../../src/db/schema.ts";

/** The number of leads with a value. The name is null for leads without one. */
export interface Share {
  readonly name: string | null;
  readonly count: number;
}

export type Stats = ReturnType<typeof readStats>;

/** Counts what arrived since a time, the start of a UTC day. It reads indexes, except for the sources. */
export function readStats(database: Connection, account: AccountNumber, sinceMs: number) {
  const recent = sql`account = ${account} AND identified_at >= ${sinceMs}`;
  /** The index has everything that is counted; the planner would also read the documents. */
  const counted = (what: string, index: string) =>
    database.values<[string | number | null, number]>(
      sql`SELECT ${sql.raw(what)} AS what, count(*) FROM ${leads} INDEXED BY ${sql.raw(index)}
          WHERE ${recent} GROUP BY what ORDER BY count(*) DESC, what`,
    );
  const days = counted(`identified_at / ${dayMs}`, "leads_by_email").map(
    ([day, count]) => [Number(day), count] as const,
  );
  const all = database
    .select({ total: count(), newestMs: max(leads.identifiedAt) })
    .from(leads)
    .where(eq(leads.account, account))
    .get();
  return {
    /** Leads of all time. */
    total: all?.total ?? 0,
    /** The time of the newest lead; null if there is none. */
    newestMs: all?.newestMs ?? null,
    /** Days with leads, oldest first. */
    byDay: days.toSorted(([a], [b]) => a - b).map(([day, count]) => ({ name: dayOf(day * dayMs), count })),
    /** Largest first, like the two below. */
    byPixel: namePixels(database, counted("pixel", "leads_by_pixel")),
    byState: counted("state", "leads_by_state").map(toShare),
    // Only the document has the source: for a million leads, reading it takes about four seconds.
    bySource: counted("doc ->> '$.traffic_source'", "leads_by_time").map(toShare),
    requests: requestsSince(database, account, dayOf(sinceMs)),
    /** The imports that began since then and were not undone, oldest first. */
    imports: importsSince(database, account, sinceMs),
  };
}

function toShare([name, count]: readonly [string | number | null, number]): Share {
  return { name: name === null ? null : String(name), count };
}

function namePixels(database: Connection, counts: readonly (readonly [string | number | null, number])[]): Share[] {
  const rows = database.select({ number: pixels.number, id: pixels.id }).from(pixels).all();
  const ids = new Map(rows.map(({ number, id }) => [number, id]));
  return counts.map(([number, count]) => ({ name: ids.get(Number(number)) ?? null, count }));
}

function requestsSince(database: Connection, account: AccountNumber, firstDay: string) {
  return database
    .select({ key: keys.id, prefix: keys.prefix, label: keys.label, day: usage.day, requests: usage.requests })
    .from(keys)
    .innerJoin(usage, eq(usage.key, keys.number))
    .where(and(eq(keys.account, account), gte(usage.day, firstDay)))
    .orderBy(asc(keys.number), asc(usage.day))
    .all();
}

function importsSince(database: Connection, account: AccountNumber, sinceMs: number) {
  return database
    .select({ number: imports.number, atMs: imports.at, imported: imports.imported, late: imports.late })
    .from(imports)
    .where(and(eq(imports.account, account), gte(imports.at, sinceMs), hasBrought, isNull(imports.undoneAt)))
    .orderBy(asc(imports.number))
    .all();
}
