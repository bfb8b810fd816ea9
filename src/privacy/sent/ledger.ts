/**
 * The ledger of what was sent: which leads each key was sent on each UTC day. Each page that is answered is noted in memory, and
 * is written within a second. Nothing is inferred, and nothing in the ledger is of a person.
 */
import { type SQL, sql } from "drizzle-orm";
import { dayMs, dayOf } from "../../contract/calendar.ts";
import type { Connection } from "../../db/connection.ts";
import { isFileOfNode } from "../../db/database-files.ts";
import type { KeyNumber } from "../../db/keys.ts";
import { isServed } from "../../db/locks.ts";
import { keys, sent } from "../../db/schema.ts";
import { addBits, addNumbers, type Blocks, packBits, unpackBits } from "./bits.ts";

/** The days for which the ledger is kept: a person may ask who received a lead during the last thirteen months. */
export const keptDays = 400;

/** Returns the newest day of the ledger that is not kept any longer. */
export function newestForgottenDay(nowMs: number): string {
  return dayOf(nowMs - (keptDays + 1) * dayMs);
}

/** Within this time a page that was answered is in the ledger, wherever its server runs. */
export const recordedWithinMs = 1_500;

/** Resolves when every page that was answered until now is in the ledger of a file, if its server is not killed before. */
export async function untilRecorded(path: string): Promise<void> {
  if (isFileOfNode(path) || isServed(path)) await Bun.sleep(recordedWithinMs);
}

/** A page that was answered. */
export interface SentPage {
  /** The numbers of its leads. */
  readonly numbers: readonly number[];
  /** The timestamp of the newest one; null for a page without leads. */
  readonly newestMs: number | null;
}

/** The leads that one key was sent on one UTC day, and the timestamp of the newest one. */
interface SentToKey {
  readonly key: KeyNumber;
  readonly blocks: Blocks;
  readonly newestMs: number;
}

/** The leads that some keys were sent on one UTC day. */
export interface SentPart {
  /** `2026-01-31` */
  readonly day: string;
  readonly keys: readonly SentToKey[];
}

/** To write this many blocks takes some milliseconds, in which no request is answered. */
const maxBlocksPerPart = 250;
/** The number of pages of one key at which they are merged, so that a full disk fills no memory. */
const maxPages = 5_000;

/** The pages of one key on one UTC day. */
interface NotedPages {
  pages: (readonly number[])[];
  newestMs: number;
}

/** The pages that were answered and are not in the ledger yet. They leave it in parts. */
export type SentPages = ReturnType<typeof createSentPages>;

export function createSentPages() {
  /** By the number of a UTC day since 1970, and by key. */
  const pending = new Map<number, Map<KeyNumber, NotedPages>>();
  let leaving: SentPart | null = null;
  let sinceMs: number | null = null;

  function take(): SentPart | null {
    const [first] = pending;
    if (first === undefined) return null;
    const [day, noted] = first;
    const taken: SentToKey[] = [];
    let count = 0;
    for (const [key, { pages, newestMs }] of noted) {
      const blocks: Blocks = new Map();
      for (const numbers of pages) addNumbers(blocks, numbers);
      taken.push({ key, blocks, newestMs });
      noted.delete(key);
      count += blocks.size;
      if (count >= maxBlocksPerPart) break;
    }
    if (noted.size === 0) pending.delete(day);
    return { day: dayOf(day * dayMs), keys: taken };
  }

  return {
    /** Records a page that is answered. */
    note(key: KeyNumber, { numbers, newestMs }: SentPage, nowMs: number): void {
      if (newestMs === null) return;
      const ofDay = pending.getOrInsertComputed(Math.floor(nowMs / dayMs), () => new Map());
      const noted = ofDay.getOrInsertComputed(key, () => ({ pages: [], newestMs }));
      // Most pages come from the page cache.
      if (noted.pages.at(-1) === numbers) return;
      noted.pages.push(numbers);
      noted.newestMs = Math.max(noted.newestMs, newestMs);
      sinceMs ??= nowMs;
      if (noted.pages.length >= maxPages) noted.pages = [[...new Set(noted.pages.flat())]];
    },
    /** Returns when the first page was answered of those that are not in the ledger yet; null without any. */
    pendingSince: (): number | null => sinceMs,
    /** Returns some of the pending pages; null without any. They stay pending until `drop`. */
    next: (): SentPart | null => (leaving ??= take()),
    /** Returns whether nothing is pending apart from the part that `next` returned last. */
    isLast: (): boolean => pending.size === 0,
    /** Drops the part that `next` returned last, because it is in the ledger now. Returns whether more is pending. */
    drop(): boolean {
      leaving = null;
      if (pending.size === 0) sinceMs = null;
      return pending.size > 0;
    },
  };
}

/**
 * Returns the statements that add a part to the rows of a node, for one transaction; none if the ledger has all of it. No other
 * program writes these rows, so they may be run again if it is unknown whether they were. A key whose account was deleted since
 * is left out.
 */
export function sentStatements(database: Connection, { day, keys: some }: SentPart, node = ""): SQL[] {
  const stored = database.$client.query<{ bits: Uint8Array }, [number, string, number, string]>(
    "SELECT bits FROM sent WHERE key = ? AND day = ? AND block = ? AND node = ?",
  );
  const rows = some.flatMap(({ key, blocks }) =>
    [...blocks].flatMap(([block, bits]) => {
      const known = stored.get(key, day, block, node);
      const all = known === null ? bits : unpackBits(known.bits);
      return known !== null && !addBits(all, bits) ? [] : [[key, block, packBits(all).toString("hex")] as const];
    }),
  );
  const newest = some.map(({ key, newestMs }) => [key, newestMs] as const);
  const add = sql`
    INSERT INTO ${sent} (key, day, block, node, bits)
    SELECT value ->> 0, ${day}, value ->> 1, ${node}, unhex(value ->> 2) FROM json_each(${JSON.stringify(rows)})
    WHERE value ->> 0 IN (SELECT number FROM ${keys}) ON CONFLICT DO UPDATE SET bits = excluded.bits`;
  const readUpTo = sql`
    UPDATE ${keys} SET read_up_to = newest.ms
    FROM (SELECT value ->> 0 AS key, value ->> 1 AS ms FROM json_each(${JSON.stringify(newest)})) AS newest
    WHERE number = newest.key AND (read_up_to IS NULL OR read_up_to < newest.ms)`;
  return rows.length === 0 ? [] : [add, readUpTo];
}

/** Returns whether the ledger has days that are not kept any longer. */
export function areSentDaysOld(database: Connection, nowMs: number): boolean {
  return database.values(sql`SELECT 1 FROM ${sent} WHERE ${areOld(nowMs)} LIMIT 1`).length > 0;
}

/** Returns the statement that deletes those days. They cannot be recovered, so the clock must be trusted. */
export function forgetOldSentDays(nowMs: number): SQL {
  return sql`DELETE FROM ${sent} WHERE ${areOld(nowMs)}`;
}

/** The first condition lets SQLite use the key of the table. */
function areOld(nowMs: number): SQL {
  return sql`key IN (SELECT number FROM ${keys}) AND day <= ${newestForgottenDay(nowMs)}`;
}
