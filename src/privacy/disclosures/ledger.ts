/** The ledger of disclosures: which leads each key received on each UTC day. It contains nothing of a person. */
import { and, between, eq, gte, lte, max, type SQL, sql } from "drizzle-orm";
import { dayMs, dayOf } from "../../contract/calendar.ts";
import type { Connection, Statement } from "../../db/connection.ts";
import { disclosures, imports, keys } from "../../db/schema.ts";
import type { Matcher } from "../mentions.ts";
import type { PendingPages } from "./pending-pages.ts";
import { type IsUnchanged, mergePages, type Range, type Span } from "./spans.ts";

/** The days for which the ledger is kept: a person may ask who received a lead during the last thirteen months. */
export const keptDays = 400;

/** Returns the oldest day of the ledger that may be shown. */
export function oldestKeptDay(nowMs: number): string {
  return dayOf(nowMs - keptDays * dayMs);
}

/** The leads that one key received through one filter on one UTC day, as a change of the ledger. */
export type DisclosurePart = Readonly<ReturnType<typeof planPart>>;

/** Within this time a page that was answered is in the ledger, wherever its server runs. */
export const recordedWithinMs = 1_500;

/** A key with more filters on a day gets pages without a filter: that says too much, and never too little. */
const maxFilters = 100;

/** Merges pages with the spans of the ledger that they overlap or touch. */
export function planPart(database: Connection, { key, day, filter: asked, pages }: PendingPages) {
  const filters = listFilters(database, key, day);
  const isOneTooMany = filters.length >= maxFilters && !filters.includes(asked);
  const filter = isOneTooMany ? "" : asked;
  const near = pages.reduce(
    (all, { oldestMs, newestMs, beforeMs }) => ({
      oldestMs: Math.min(all.oldestMs, oldestMs - 1),
      newestMs: Math.max(all.newestMs, newestMs + 1, beforeMs ?? 0),
    }),
    { oldestMs: Number.POSITIVE_INFINITY, newestMs: Number.NEGATIVE_INFINITY },
  );
  const known = spansNear(database, { key, day, filter }, near);
  const merged = mergePages(known, pages, openUnchanged(database, key));
  return { key, day, filter, removed: without(known, merged), added: without(merged, known) };
}

function spansNear(
  database: Connection,
  { key, day, filter }: Pick<DisclosurePart, "key" | "day" | "filter">,
  near: Range,
): Span[] {
  const { oldest, newest, seen } = disclosures;
  const ofFilter = and(eq(disclosures.key, key), eq(disclosures.day, day), eq(disclosures.filter, filter));
  // There may be many thousands of others, but of those that begin before it only the last one can reach into it.
  const last = database.select({ ms: max(oldest) }).from(disclosures);
  const first = last.where(and(ofFilter, lte(oldest, near.oldestMs))).get()?.ms ?? near.oldestMs;
  const spans = database.select({ oldestMs: oldest, newestMs: newest, seen }).from(disclosures);
  return spans.where(and(ofFilter, between(oldest, first, near.newestMs), gte(newest, near.oldestMs))).all();
}

/** Lists the filters that a key has used on a day. Each step of the query finds one, and skips all of its spans. */
function listFilters(database: Connection, key: number, day: string): string[] {
  const next = (after: SQL) => sql`SELECT min(filter) FROM disclosures WHERE key = ${key} AND day = ${day} ${after}`;
  const rows = database.values<[string]>(sql`
    WITH RECURSIVE used(filter) AS (
      ${next(sql``)} UNION ALL
      SELECT (${next(sql`AND filter > used.filter`)}) FROM used WHERE filter IS NOT NULL
    ) SELECT filter FROM used WHERE filter IS NOT NULL`);
  return rows.map(([filter]) => filter);
}

/** Returns the spans that another list does not have. */
function without(spans: readonly Span[], others: readonly Span[]): Span[] {
  const nameOf = ({ oldestMs, newestMs, seen }: Span) => `${oldestMs} ${newestMs} ${seen}`;
  const names = new Set(others.map(nameOf));
  return spans.filter((span) => !names.has(nameOf(span)));
}

/** Returns a function that tells whether no import added leads to a span between two states of the account of a key. */
function openUnchanged(database: Connection, key: number): IsUnchanged {
  const since = database
    .select({ number: imports.number, oldest: imports.oldest, newest: imports.newest, finishedAt: imports.finishedAt })
    .from(imports)
    .innerJoin(keys, eq(keys.account, imports.account))
    .where(and(eq(keys.number, key), sql`${imports.number} >= ${sql.placeholder("from")}`))
    .prepare();
  // Many spans have the same state.
  const known = new Map<number, ReturnType<typeof since.all>>();
  return (range, seen, later) => {
    // The newest import of the earlier state may have gone on.
    const from = Math.ceil(seen / 2);
    const added = known
      .getOrInsertComputed(from, () => since.all({ from }))
      .filter(({ number }) => 2 * number <= later);
    return added.every(({ oldest, newest, finishedAt }) => {
      if (oldest === null || newest === null) return finishedAt !== null;
      // An import adds its leads oldest first.
      return oldest > range.newestMs || (finishedAt !== null && newest < range.oldestMs);
    });
  };
}

/** Two servers may record spans that begin at the same time. It is unknown then which imports both can contain. */
const onConflict = sql`ON CONFLICT DO UPDATE SET newest = max(newest, excluded.newest),
  seen = CASE WHEN seen IS excluded.seen THEN seen END`;

/**
 * Returns the statements that write a part, for one transaction: in between, a lead would seem to have no recipient. Nothing
 * is written for a key whose account was deleted since.
 */
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
    SELECT ${key}, ${day}, ${filter}, value ->> 0, value ->> 1, value ->> 2 FROM json_each(${values(added)})
    WHERE EXISTS (SELECT 1 FROM keys WHERE number = ${key}) ${onConflict}`;
  return [...(removed.length > 0 ? [remove] : []), ...(added.length > 0 ? [add] : [])];
}

/** Writes a part into the file. */
export function writeDisclosures(database: Connection, part: DisclosurePart): void {
  const statements = disclosureStatements(part);
  const write = () => {
    for (const statement of statements) database.run(statement);
  };
  if (statements.length > 0) database.transaction(write, { behavior: "immediate" });
}

/** Returns statements that drop a filter with a person in it from its pages: they say too much then, never too little. */
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

/** Returns whether the ledger has days that are not kept any longer. */
export function areDisclosuresOld(database: Connection, nowMs: number): boolean {
  return database.values(sql`SELECT 1 FROM disclosures WHERE ${areOld(nowMs)} LIMIT 1`).length > 0;
}

/** Returns the statement that deletes those days. They cannot be recovered, so the clock must be trusted. */
export function forgetOldDisclosures(nowMs: number): SQL {
  return sql`DELETE FROM disclosures WHERE ${areOld(nowMs)}`;
}

/** The first condition lets SQLite use the key of the table. */
function areOld(nowMs: number): SQL {
  return sql`key IN (SELECT number FROM keys) AND day < ${oldestKeptDay(nowMs)}`;
}
