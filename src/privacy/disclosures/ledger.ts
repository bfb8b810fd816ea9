/** The ledger of disclosures in the file: what each key received on each day. It holds nothing of a person. */
import { and, asc, eq, type SQL, sql } from "drizzle-orm";
import { dayMs, dayOf } from "../../contract/calendar.ts";
import type { Connection, Statement } from "../../db/connection.ts";
import { disclosures, imports, keys } from "../../db/schema.ts";
import type { Matcher } from "../mentions.ts";
import type { DisclosurePart, DisclosureReader } from "./pages.ts";
import type { Span } from "./spans.ts";

/** How long the ledger is kept: a person may ask who received a lead during the last thirteen months. */
export const keptDays = 400;

/** The oldest day of the ledger that may be shown. */
export function oldestKeptDay(nowMs: number): string {
  return dayOf(nowMs - keptDays * dayMs);
}

/** Reads what the ledger has, for those who add to it. */
export function openDisclosureReader(database: Connection): DisclosureReader {
  const ofDay = database
    .select({
      filter: disclosures.filter,
      oldestMs: disclosures.oldest,
      newestMs: disclosures.newest,
      seen: disclosures.seen,
    })
    .from(disclosures)
    .where(and(eq(disclosures.key, sql.placeholder("key")), eq(disclosures.day, sql.placeholder("day"))))
    .orderBy(asc(disclosures.filter), asc(disclosures.oldest))
    .prepare();
  const since = database
    .select({ number: imports.number, oldest: imports.oldest, newest: imports.newest, finishedAt: imports.finishedAt })
    .from(imports)
    .innerJoin(keys, eq(keys.account, imports.account))
    .where(and(eq(keys.number, sql.placeholder("key")), sql`${imports.number} >= ${sql.placeholder("from")}`))
    .prepare();
  return {
    of(key, day) {
      const filters = new Map<string, Span[]>();
      for (const { filter, ...span } of ofDay.all({ key, day })) {
        filters.getOrInsertComputed(filter, () => []).push(span);
      }
      return filters;
    },
    unchanged: (key) => (span, seen, later) => {
      // The newest import of the earlier state may have gone on.
      const between = since.all({ key, from: Math.ceil(seen / 2) }).filter(({ number }) => 2 * number <= later);
      return between.every(({ oldest, newest, finishedAt }) => {
        if (oldest === null || newest === null) return finishedAt !== null;
        // An import adds its leads oldest first.
        return oldest > span.newestMs || (finishedAt !== null && newest < span.oldestMs);
      });
    },
  };
}

/** The statements that write a part, for one transaction: in between, a lead would seem to have no recipient. */
export function disclosureStatements({ key, day, filter, removed, added }: DisclosurePart): SQL[] {
  const values = (spans: readonly Span[]) =>
    JSON.stringify(spans.map(({ oldestMs, newestMs, seen }) => [oldestMs, newestMs, seen]));
  // A span that another writer has changed stays. The first condition lets SQLite use the key of the table.
  const remove = sql`
    DELETE FROM disclosures WHERE key = ${key} AND day = ${day} AND filter = ${filter}
      AND oldest IN (SELECT value ->> 0 FROM json_each(${values(removed)}))
      AND (oldest, newest, ifnull(seen, -1)) IN
        (SELECT value ->> 0, value ->> 1, ifnull(value ->> 2, -1) FROM json_each(${values(removed)}))`;
  const add = sql`
    INSERT INTO disclosures (key, day, filter, oldest, newest, seen)
    SELECT ${key}, ${day}, ${filter}, value ->> 0, value ->> 1, value ->> 2 FROM json_each(${values(added)}) WHERE TRUE
    ${onConflict}`;
  return [...(removed.length > 0 ? [remove] : []), ...(added.length > 0 ? [add] : [])];
}

/** Two servers may note spans that begin at the same time. What both can contain is unknown then. */
const onConflict = sql`ON CONFLICT DO UPDATE SET newest = max(newest, excluded.newest),
  seen = CASE WHEN seen IS excluded.seen THEN seen END`;

/** Writes a part into the file. */
export function writeDisclosures(database: Connection, part: DisclosurePart): void {
  const statements = disclosureStatements(part);
  if (statements.length === 0) return;
  const write = () => {
    for (const statement of statements) database.run(statement);
  };
  database.transaction(write, { behavior: "immediate" });
}

/** The statements that keep pages without their filter if it holds a person: it says too much then, and never too little. */
export function filterStatements(database: Connection, matcher: Matcher<unknown>): Statement[] {
  const all = database.selectDistinct({ filter: disclosures.filter }).from(disclosures).all();
  return all
    .filter(({ filter }) => matcher(filter).size > 0)
    .flatMap(({ filter }) => [
      sql`
        INSERT INTO disclosures (key, day, filter, oldest, newest, seen)
        SELECT key, day, '', oldest, newest, NULL FROM disclosures WHERE filter = ${filter} ${onConflict}`,
      sql`DELETE FROM disclosures WHERE filter = ${filter}`,
    ]);
}

/** Whether anything is older than is kept. */
export function areDisclosuresOld(database: Connection, nowMs: number): boolean {
  return database.values(sql`SELECT 1 FROM disclosures WHERE ${areOld(nowMs)} LIMIT 1`).length > 0;
}

/** The statement that deletes what is older than is kept. Nothing brings it back, so the clock must be trusted. */
export function forgetOldDisclosures(nowMs: number): SQL {
  return sql`DELETE FROM disclosures WHERE ${areOld(nowMs)}`;
}

/** The first condition lets SQLite use the key of the table. */
function areOld(nowMs: number): SQL {
  return sql`key IN (SELECT number FROM keys) AND day < ${oldestKeptDay(nowMs)}`;
}
