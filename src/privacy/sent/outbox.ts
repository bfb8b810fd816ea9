/**
 * The outbox: what each key did, in memory until it is in the database. It has the requests of each key (§2.4), and the leads that
 * it was sent. Nothing of it is of a person.
 */
import type { SQL } from "drizzle-orm";
import { dayMs, dayOf, monthOf } from "../../contract/calendar.ts";
import type { Connection } from "../../db/connection.ts";
import type { KeyNumber } from "../../db/keys.ts";
import { type StoredUsage, usageStatement } from "../../db/usage.ts";
import { addNumbers, type Blocks } from "./bits.ts";
import { completeStatement } from "./gaps.ts";
import { type SentToKey, sentStatements } from "./ledger.ts";

/** A page that was answered. */
export interface SentPage {
  /** The numbers of its leads. */
  readonly numbers: readonly number[];
  /** The timestamp of the newest one; null for a page without leads. */
  readonly newestMs: number | null;
}

/** The activity of one key on one UTC day. */
interface Activity {
  requests: number;
  pages: (readonly number[])[];
  newestMs: number;
}

/** The activity of keys, by the number of a UTC day since 1970, which costs less than its name, and by key. */
interface Batch {
  readonly days: Map<number, Map<KeyNumber, Activity>>;
  /** The time of its first page; null without any. */
  sentSinceMs: number | null;
}

/** The activity of some keys on one UTC day: what one transaction writes. */
export interface OutboxPart {
  /** `2026-01-31` */
  readonly day: string;
  readonly keys: readonly (SentToKey & { readonly requests: number })[];
  /** When this part is written, everything until this time is; null if more has to be written for that. */
  readonly completeMs: number | null;
}

/** To write the requests of 500 keys, or 250 blocks of leads, takes some milliseconds, in which no request is answered. */
const maxPartSize = 500;
const blockSizeInPart = 2;
/** The number of pages of one key at which they are merged, so that a full disk fills no memory. */
const maxPages = 5_000;

export type Outbox = ReturnType<typeof createOutbox>;

const emptyBatch = (): Batch => ({ days: new Map(), sentSinceMs: null });

/**
 * Creates an outbox, on top of the requests that the database has. What was recorded when a writing begins leaves in parts;
 * requests that come while it is written wait for the next writing.
 */
export function createOutbox(stored: StoredUsage) {
  let pending = emptyBatch();
  let leaving = emptyBatch();
  let leftMs = 0;

  function activityOf(key: KeyNumber, nowMs: number): Activity {
    const ofDay = pending.days.getOrInsertComputed(Math.floor(nowMs / dayMs), () => new Map());
    return ofDay.getOrInsertComputed(key, () => ({ requests: 0, pages: [], newestMs: Number.MIN_SAFE_INTEGER }));
  }

  return {
    /** Records a request. */
    count(key: KeyNumber, nowMs: number): void {
      activityOf(key, nowMs).requests++;
    },
    /** Records a page that is answered. */
    note(key: KeyNumber, { numbers, newestMs }: SentPage, nowMs: number): void {
      if (newestMs === null) return;
      const noted = activityOf(key, nowMs);
      // Most pages come from the page cache.
      if (noted.pages.at(-1) === numbers) return;
      noted.pages.push(numbers);
      noted.newestMs = Math.max(noted.newestMs, newestMs);
      pending.sentSinceMs ??= nowMs;
      if (noted.pages.length >= maxPages) noted.pages = [[...new Set(noted.pages.flat())]];
    },
    /** Returns the requests of a key in the current UTC day and month, whether they are in the database already or not. */
    of(key: KeyNumber, nowMs: number): { readonly today: number; readonly month: number } {
      const today = dayOf(nowMs);
      const [first, last] = monthOf(today);
      const kept = [...leaving.days, ...pending.days].map(([day, keys]) => {
        return { day: dayOf(day * dayMs), requests: keys.get(key)?.requests ?? 0 };
      });
      const ofMonth = kept.filter(({ day }) => first <= day && day <= last).concat(stored.between(key, first, last));
      return { today: sumOf(ofMonth.filter(({ day }) => day === today)), month: sumOf(ofMonth) };
    },
    /** Returns the time of the first page that is not in the ledger yet; null without any. */
    unwrittenSince: (): number | null => leaving.sentSinceMs ?? pending.sentSinceMs,
    /** Returns some of what leaves, the oldest day first; null if there is nothing. It stays in the outbox until `drop`. */
    next(nowMs: number): OutboxPart | null {
      if (leaving.days.size === 0) [leaving, pending, leftMs] = [pending, emptyBatch(), nowMs];
      return partOf(leaving, leftMs);
    },
    /** Drops a part that is in the database now. Returns whether more is leaving. */
    drop({ day: name, keys }: OutboxPart): boolean {
      const day = Date.parse(name) / dayMs;
      const activities = leaving.days.get(day);
      for (const { key } of keys) activities?.delete(key);
      if (activities?.size === 0) leaving.days.delete(day);
      if (leaving.days.size === 0) leaving = emptyBatch();
      return leaving.days.size > 0;
    },
  };
}

const sumOf = (counts: readonly { readonly requests: number }[]) =>
  counts.reduce((sum, { requests }) => sum + requests, 0);

function partOf({ days }: Batch, leftMs: number): OutboxPart | null {
  const [oldest] = days;
  if (oldest === undefined) return null;
  const [day, activities] = oldest;
  const keys: OutboxPart["keys"][number][] = [];
  let size = 0;
  for (const [key, { requests, pages, newestMs }] of activities) {
    const blocks: Blocks = new Map();
    for (const numbers of pages) addNumbers(blocks, numbers);
    keys.push({ key, requests, blocks, newestMs });
    size += 1 + blockSizeInPart * blocks.size;
    if (size >= maxPartSize) break;
  }
  const isLast = days.size === 1 && keys.length === activities.size;
  return { day: dayOf(day * dayMs), keys, completeMs: isLast ? leftMs : null };
}

/** Returns the statements that write a part, for one transaction that is applied once: its requests are added. */
export function partStatements(database: Connection, part: OutboxPart, node = ""): SQL[] {
  const counts = part.keys.filter(({ requests }) => requests > 0).map(({ key, requests }) => [key, requests] as const);
  return [
    ...(counts.length === 0 ? [] : [usageStatement(part.day, counts)]),
    ...sentStatements(database, part, node),
    ...(part.completeMs === null ? [] : [completeStatement(part.completeMs, node)]),
  ];
}
