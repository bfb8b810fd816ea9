/** Counts of an account in a period of UTC days, and the charts that the terminal and the page draw of them. */
import { and, asc, count, eq, gte, isNull, max, sql } from "drizzle-orm";
import { dayMs } from "../../src/contract/calendar.ts";
import type { AccountNumber } from "../../src/db/accounts.ts";
import type { Connection } from "../../src/db/connection.ts";
import { hasBrought } from "../../src/db/imports.ts";
import { imports, keys, leads, usage } from "../../src/db/schema.ts";

/** The number of leads with a value. The name is null for leads without one. */
export interface Share {
  readonly name: string | null;
  readonly count: number;
}

export type Stats = ReturnType<typeof readStats>;

/**
 * Counts the leads, requests, and imports of a period. `period` has all of its days, oldest first. Only the sources need more
 * than an index.
 */
export function readStats(database: Connection, account: AccountNumber, period: readonly string[]) {
  const [firstDay = ""] = period;
  const sinceMs = Date.parse(firstDay);
  /**
   * Counts leads by a value, the largest count first. The index has everything that is counted; the planner would also read the
   * documents.
   */
  const counted = (what: string, index: string, name = "what") =>
    database
      .values<[string | null, number]>(
        sql`SELECT ${sql.raw(name)}, leads FROM (
              SELECT ${sql.raw(what)} AS what, count(*) AS leads FROM ${leads} INDEXED BY ${sql.raw(index)}
              WHERE account = ${account} AND identified_at >= ${sinceMs} GROUP BY what ORDER BY leads DESC, what)`,
      )
      .map(([name, count]): Share => ({ name, count }));
  const all = database
    .select({ total: count(), newestMs: max(leads.identifiedAt) })
    .from(leads)
    .where(eq(leads.account, account))
    .get();
  return {
    period,
    /** Leads of all time. */
    total: all?.total ?? 0,
    /** The time of the newest lead; null if there is none. */
    newestMs: all?.newestMs ?? null,
    byDay: perDay(period, counted(`identified_at / ${dayMs}`, "leads_by_email", "date(what * 86400, 'unixepoch')")),
    byPixel: counted("pixel", "leads_by_pixel", "(SELECT id FROM pixels WHERE number = what)"),
    byState: counted("state", "leads_by_state"),
    // Only the document has the source: for a million leads, reading it takes about four seconds.
    bySource: counted("doc ->> '$.traffic_source'", "leads_by_time"),
    requests: database
      .select({ key: keys.id, prefix: keys.prefix, label: keys.label, day: usage.day, requests: usage.requests })
      .from(keys)
      .innerJoin(usage, eq(usage.key, keys.number))
      .where(and(eq(keys.account, account), gte(usage.day, firstDay)))
      .orderBy(asc(keys.number), asc(usage.day))
      .all(),
    /** The imports that began in the period and were not undone, oldest first. */
    imports: database
      .select({ number: imports.number, atMs: imports.at, imported: imports.imported, late: imports.late })
      .from(imports)
      .where(and(eq(imports.account, account), gte(imports.at, sinceMs), hasBrought, isNull(imports.undoneAt)))
      .orderBy(asc(imports.number))
      .all(),
  };
}

/** Returns the sum of the counts. */
export function sumOf(shares: readonly Share[]): number {
  return shares.reduce((sum, { count }) => sum + count, 0);
}

/** Returns a count for every day. A lead may be newer than today, because its time is that of its source. */
function perDay(
  days: readonly string[],
  counts: readonly Share[],
): { readonly name: string; readonly count: number }[] {
  const sums = new Map(days.map((day) => [day, 0]));
  for (const { name, count } of counts) sums.set(name ?? "", (sums.get(name ?? "") ?? 0) + count);
  return [...sums].map(([name, count]) => ({ name, count }));
}

export type Chart = ReturnType<typeof chart>;

/**
 * Returns a chart of labelled counts, without bars if nothing was counted. The length of a bar is between 0 and 1; the longest
 * is 1.
 */
function chart(title: string, label: string, shares: readonly Share[]) {
  const largest = Math.max(1, ...shares.map(({ count }) => count));
  const bars = shares.map(({ name, count }) => ({ name: name ?? "(none)", count, length: count / largest }));
  return { title, label, bars };
}

/** Returns the charts of the leads, and of the requests of each key. */
export function chartsOf({ period, byDay, byPixel, byState, bySource, requests }: Stats): Chart[] {
  return [
    overTime("Leads", period, byDay),
    ranking("pixel", byPixel),
    ranking("state", byState),
    ranking("source", bySource),
    ...(requests.length === 0 ? [overTime("Requests", period, [])] : []),
    ...[...Map.groupBy(requests, ({ key }) => key)].map(([key, rows]) => {
      const label = rows[0]?.label == null ? "" : ` (${rows[0].label})`;
      const counts = rows.map(({ day, requests }) => ({ name: day, count: requests }));
      return overTime(`Requests of ${key}${label}`, period, counts);
    }),
  ];
}

/** A longer period is shown by month. */
const maxDaysShown = 62;
const maxShares = 10;

/**
 * Returns a chart by day or month. It begins with the first one that has a count: earlier ones would push the rest off the
 * screen.
 */
function overTime(what: string, period: readonly string[], counts: readonly Share[]): Chart {
  const label = period.length > maxDaysShown ? "month" : "day";
  const startOf = (day: string) => day.slice(0, label === "month" ? "2026-01".length : "2026-01-31".length);
  const starts = counts.map(({ name, count }) => ({ name: startOf(name ?? ""), count }));
  const all = perDay(period.map(startOf), starts);
  const first = all.findIndex(({ count }) => count > 0);
  return chart(`${what} per ${label}`, label, first < 0 ? [] : all.slice(first));
}

/** Returns a chart of the largest shares. The title has the number of all shares. */
function ranking(label: string, shares: readonly Share[]): Chart {
  const ofAll = shares.length > maxShares ? ` (the ${maxShares} largest of ${shares.length})` : "";
  return chart(`Leads by ${label}${ofAll}`, label, shares.slice(0, maxShares));
}
