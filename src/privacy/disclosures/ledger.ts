/** The ledger of disclosures: which leads each key received on each UTC day. It contains nothing of a person. */
import { and, between, eq, gte, lte, max, type SQL, sql } from "drizzle-orm";
import { dayMs, dayOf } from "../../contract/calendar.ts";
import { namesOf } from "../../contract/names.ts";
import type { LeadFilter, LeadFilters } from "../../contract/parameters.ts";
import type { Connection, Statement } from "../../db/connection.ts";
import { disclosures, imports, keys } from "../../db/schema.ts";
import type { Matcher } from "../mentions.ts";
import { type IsUnchanged, mergePages, type Page, type Range, type Span } from "./spans.ts";

/** The days for which the ledger is kept: a person may ask who received a lead during the last thirteen months. */
export const keptDays = 400;

/** Returns the oldest day of the ledger that may be shown. */
export function oldestKeptDay(nowMs: number): string {
  return dayOf(nowMs - keptDays * dayMs);
}

/** The filters by their names in the ledger. The order decides that equal filters are the same text. */
const filterNames = {
  city: "city",
  hasEmail: "has_email",
  pixelId: "pixel_id",
  state: "state",
} as const satisfies Record<LeadFilter, string>;

/** The values of a lead with which filters are compared. */
export type Filterable = Readonly<Record<(typeof filterNames)[LeadFilter], string | boolean | null>>;

/** Returns the filters of a query as text: the same text for the same leads, and an empty one for a page of all. */
export function writeFilter(query: LeadFilters): string {
  const used = namesOf(filterNames).filter((filter) => query[filter]);
  return used.length === 0 ? "" : JSON.stringify(Object.fromEntries(used.map((one) => [filterNames[one], query[one]])));
}

/** Returns a function that tells whether a lead is on the pages with a filter. */
export function readFilter(filter: string): (lead: Filterable) => boolean {
  const wanted: Partial<Filterable> = filter === "" ? {} : JSON.parse(filter);
  const names = Object.values(filterNames).filter((name) => wanted[name] !== undefined);
  return (lead) => names.every((name) => lead[name] === wanted[name]);
}

/** One page: it had every lead that fits the filter, from its oldest to its newest timestamp. */
export type DisclosedPage = Page & {
  /** As `writeFilter` writes it. */
  readonly filter: string;
};

/** The leads that one key received through one filter on one UTC day, as a change of the ledger. */
export interface DisclosurePart {
  readonly key: number;
  /** `2026-01-31` */
  readonly day: string;
  readonly filter: string;
  readonly removed: readonly Span[];
  readonly added: readonly Span[];
}

/** Within this time a page that was answered is in the ledger, wherever its server runs. */
export const recordedWithinMs = 1_500;

/** A key with more filters on a day gets pages without a filter: that says too much, and never too little. */
const maxFilters = 100;
/** This many pages take some milliseconds to write, in which no request is answered. */
const pagesAtOnce = 2500;
/** The number of pending pages at which they are merged; the next merge is at twice the remaining number. */
const maxPending = 5000;

interface PendingPages {
  readonly day: string;
  readonly key: number;
  readonly filter: string;
  pages: Page[];
  /** The number of pages from which on they are joined. */
  joinAt: number;
}

/** Makes what keeps the pages that were answered until they are in the ledger, and hands them over in parts. */
export function createDisclosureLedger(database: () => Connection) {
  /** By UTC day, key, and filter. */
  const pending = new Map<string, PendingPages>();
  let oldestMs: number | null = null;
  let leaving: PendingPages | null = null;

  function take(): PendingPages | null {
    const [first] = pending;
    if (first === undefined) return null;
    const [name, one] = first;
    const pages = one.pages.splice(0, pagesAtOnce);
    if (one.pages.length === 0) pending.delete(name);
    return { ...one, pages };
  }

  return {
    /** Records a page that is answered. */
    note(key: number, page: DisclosedPage, nowMs: number): void {
      const { filter } = page;
      const begin = () => ({ day: dayOf(nowMs), key, filter, pages: [], joinAt: maxPending });
      const one = pending.getOrInsertComputed(`${Math.floor(nowMs / dayMs)} ${key} ${filter}`, begin);
      // Most pages come from the response cache.
      if (one.pages.at(-1) === page) return;
      one.pages.push(page);
      oldestMs ??= nowMs;
      if (one.pages.length < one.joinAt) return;
      one.pages = mergePages([], one.pages, () => false).map((span) => ({ ...span, beforeMs: null }));
      one.joinAt = Math.max(maxPending, 2 * one.pages.length);
    },
    /** Returns when the first page was answered of those that are not in the ledger yet; null without any. */
    pendingSince: (): number | null => oldestMs,
    /** Returns some of the pending pages as a change of the ledger; null without any. They stay until they are dropped. */
    next(): DisclosurePart | null {
      leaving ??= take();
      return leaving === null ? null : planPart(database(), leaving);
    },
    /** Drops the part that was returned last, because the ledger has it now. Returns whether more is pending. */
    drop(): boolean {
      leaving = null;
      if (pending.size === 0) oldestMs = null;
      return pending.size > 0;
    },
  };
}

/** Merges pages with the spans of the ledger that they overlap or touch. */
function planPart(database: Connection, { key, day, filter: asked, pages }: PendingPages): DisclosurePart {
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

/** Prepares the question which leads were added between two states of the account of a key. */
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

/** Returns the statements that write a part, for one transaction: in between, a lead would seem to have no recipient. */
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
