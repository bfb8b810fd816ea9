/** The ledger of disclosures in the file: reads and writes what each key received on each day. */
import { and, asc, eq, type SQL, sql } from "drizzle-orm";
import { dayMs, dayOf } from "../../contract/calendar.ts";
import type { Connection } from "../../db/connection.ts";
import { disclosures } from "../../db/schema.ts";
import { type DisclosurePart, type DisclosureReader, keptDays, type Span } from "../../store/disclosures.ts";

export function openDisclosureReader(database: Connection): DisclosureReader {
  const ofDay = database
    .select({ filter: disclosures.filter, oldestMs: disclosures.oldest, newestMs: disclosures.newest })
    .from(disclosures)
    .where(and(eq(disclosures.key, sql.placeholder("key")), eq(disclosures.day, sql.placeholder("day"))))
    .orderBy(asc(disclosures.filter), asc(disclosures.oldest))
    .prepare();
  return {
    of(key, day) {
      const filters = new Map<string, Span[]>();
      for (const { filter, ...span } of ofDay.all({ key, day })) {
        filters.getOrInsertComputed(filter, () => []).push(span);
      }
      return filters;
    },
  };
}

/** Writes a part. Removes and adds in one transaction: in between, a lead would seem to have no recipient. */
export function writeDisclosures(database: Connection, part: DisclosurePart): void {
  const { removed, added } = part;
  if (removed.length === 0 && added.length === 0) return;
  if (removed.length === 0) {
    addSpans(database, part);
    return;
  }
  database.transaction(
    () => {
      removeSpans(database, part);
      addSpans(database, part);
    },
    { behavior: "immediate" },
  );
}

/** A span that another writer has made longer stays. The first condition lets SQLite use the key of the table. */
function removeSpans(database: Connection, { key, day, filter, removed }: DisclosurePart): void {
  const spans = pairs(removed);
  database.run(sql`
    DELETE FROM disclosures WHERE key = ${key} AND day = ${day} AND filter = ${filter}
      AND oldest IN (SELECT value ->> 0 FROM json_each(${spans}))
      AND (oldest, newest) IN (SELECT value ->> 0, value ->> 1 FROM json_each(${spans}))`);
}

function addSpans(database: Connection, { key, day, filter, added }: DisclosurePart): void {
  database.run(sql`
    INSERT INTO disclosures (key, day, filter, oldest, newest)
    SELECT ${key}, ${day}, ${filter}, value ->> 0, value ->> 1 FROM json_each(${pairs(added)}) WHERE TRUE
    ON CONFLICT DO UPDATE SET newest = max(newest, excluded.newest)`);
}

function pairs(spans: readonly Span[]): string {
  return JSON.stringify(spans.map(({ oldestMs, newestMs }) => [oldestMs, newestMs]));
}

/** Keeps pages as if they had no filter where that is one that holds something: it says too much then, and never too little. */
export function dropFilters(database: Connection, holds: (filter: string) => boolean): void {
  const all = database.selectDistinct({ filter: disclosures.filter }).from(disclosures).all();
  for (const { filter } of all.filter((one) => holds(one.filter))) {
    const drop = () => {
      database.run(sql`
        INSERT INTO disclosures (key, day, filter, oldest, newest)
        SELECT key, day, '', oldest, newest FROM disclosures WHERE filter = ${filter}
        ON CONFLICT DO UPDATE SET newest = max(newest, excluded.newest)`);
      database.delete(disclosures).where(eq(disclosures.filter, filter)).run();
    };
    database.transaction(drop, { behavior: "immediate" });
  }
}

/** Whether anything is older than is kept. */
export function areDisclosuresOld(database: Connection, nowMs: number): boolean {
  return database.values(sql`SELECT 1 FROM disclosures WHERE ${areOld(nowMs)} LIMIT 1`).length > 0;
}

/** Deletes what is older than is kept. Nothing brings it back, so the clock must be trusted. */
export function forgetOldDisclosures(database: Connection, nowMs: number): void {
  database.run(sql`DELETE FROM disclosures WHERE ${areOld(nowMs)}`);
}

/** The first condition lets SQLite use the key of the table. */
function areOld(nowMs: number): SQL {
  return sql`key IN (SELECT number FROM keys) AND day < ${dayOf(nowMs - keptDays * dayMs)}`;
}
