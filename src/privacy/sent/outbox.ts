/**
 * The outbox: the activity of each key, in memory until it is in the database. It has the number of requests of each key
 * (§2.4), and the leads that the key was sent, but no personal data.
 */
import type { SQL } from "drizzle-orm";
import { dayMs, dayOf, monthOf } from "../../contract/calendar.ts";
import type { Connection } from "../../db/connection.ts";
import type { KeyNumber } from "../../db/keys.ts";
import { type StoredUsage, usageStatement } from "../../db/usage.ts";
import { addNumbers, type Blocks } from "./bits.ts";
import { completeStatement } from "./gaps.ts";
import { type SentToKey, sentStatements } from "./ledger.ts";

/** A page that was served. */
export interface SentPage {
  /** The numbers of its leads. */
  readonly numbers: readonly number[];
  /** The timestamp of the newest lead; null for a page without leads. */
  readonly newestMs: number | null;
}

/** The activity of one key on one UTC day. */
interface Activity {
  requests: number;
  pages: (readonly number[])[];
  newestMs: number;
}

/** The activity of keys, by UTC day and by key. A day is its number since 1970, which is faster than its name. */
interface Batch {
  readonly days: Map<number, Map<KeyNumber, Activity>>;
  /** The time of its first page; null if there is none. */
  sentSinceMs: number | null;
}

/** The activity of some keys on one UTC day: what one transaction writes. */
export interface OutboxPart {
  /** `2026-01-31` */
  readonly day: string;
  readonly keys: readonly (SentToKey & { readonly requests: number })[];
  /** Once this part is written, everything until this time is written; null if more parts follow. */
  readonly completeMs: number | null;
}

/** Writing the requests of 500 keys, or 250 blocks of leads, takes a few milliseconds, in which no request is answered. */
const maxPartSize = 500;
const blockSizeInPart = 2;
/** The number of pages at which those of a key are merged, so that memory does not fill up while the disk is full. */
const maxPages = 5_000;

export type Outbox = ReturnType<typeof createOutbox>;

const emptyBatch = (): Batch => ({ days: new Map(), sentSinceMs: null });

/**
 * Creates an outbox on top of the stored request counts. A flush writes everything that was recorded when it began, in parts.
 * Later requests are pending until the next flush.
 */
export function createOutbox(stored: StoredUsage) {
  let pending = emptyBatch();
  let flushing = emptyBatch();
  let flushStartMs = 0;

  function activityOf(key: KeyNumber, nowMs: number): Activity {
    const ofDay = pending.days.getOrInsertComputed(Math.floor(nowMs / dayMs), () => new Map());
    return ofDay.getOrInsertComputed(key, () => ({ requests: 0, pages: [], newestMs: Number.MIN_SAFE_INTEGER }));
  }

  return {
    /** Records a request. */
    count(key: KeyNumber, nowMs: number): void {
      activityOf(key, nowMs).requests++;
    },
    /** Records a page that is served. */
    note(key: KeyNumber, { numbers, newestMs }: SentPage, nowMs: number): void {
      if (newestMs === null) return;
      const noted = activityOf(key, nowMs);
      // A page from the page cache has the same numbers, and is recorded once.
      if (noted.pages.at(-1) === numbers) return;
      noted.pages.push(numbers);
      noted.newestMs = Math.max(noted.newestMs, newestMs);
      pending.sentSinceMs ??= nowMs;
      if (noted.pages.length >= maxPages) noted.pages = [[...new Set(noted.pages.flat())]];
    },
    /** Returns the number of requests of a key in the current UTC day and month, stored and not yet stored. */
    of(key: KeyNumber, nowMs: number): { readonly today: number; readonly month: number } {
      const today = dayOf(nowMs);
      const [first, last] = monthOf(today);
      const kept = [...flushing.days, ...pending.days].map(([day, keys]) => {
        return { day: dayOf(day * dayMs), requests: keys.get(key)?.requests ?? 0 };
      });
      const ofMonth = kept.filter(({ day }) => first <= day && day <= last).concat(stored.between(key, first, last));
      return { today: sumOf(ofMonth.filter(({ day }) => day === today)), month: sumOf(ofMonth) };
    },
    /** Returns the time of the first page that is not in the ledger yet; null if there is none. */
    unwrittenSince: (): number | null => flushing.sentSinceMs ?? pending.sentSinceMs,
    /** Returns the next part to write, the oldest day first; null if there is none. The part stays in the outbox until `drop`. */
    next(nowMs: number): OutboxPart | null {
      if (flushing.days.size === 0) [flushing, pending, flushStartMs] = [pending, emptyBatch(), nowMs];
      return partOf(flushing, flushStartMs);
    },
    /** Drops a part that is now in the database. Returns whether the flush has more parts. */
    drop({ day: name, keys }: OutboxPart): boolean {
      const day = Date.parse(name) / dayMs;
      const activities = flushing.days.get(day);
      for (const { key } of keys) activities?.delete(key);
      if (activities?.size === 0) flushing.days.delete(day);
      if (flushing.days.size === 0) flushing = emptyBatch();
      return flushing.days.size > 0;
    },
  };
}

const sumOf = (counts: readonly { readonly requests: number }[]) =>
  counts.reduce((sum, { requests }) => sum + requests, 0);

function partOf({ days }: Batch, flushStartMs: number): OutboxPart | null {
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
  return { day: dayOf(day * dayMs), keys, completeMs: isLast ? flushStartMs : null };
}

/** Returns the statements that write a part. Their transaction must be applied only once, because it adds to request counts. */
export function partStatements(database: Connection, part: OutboxPart, node = ""): SQL[] {
  const counts = part.keys.filter(({ requests }) => requests > 0).map(({ key, requests }) => [key, requests] as const);
  return [
    ...(counts.length === 0 ? [] : [usageStatement(part.day, counts)]),
    ...sentStatements(database, part, node),
    ...(part.completeMs === null ? [] : [completeStatement(part.completeMs, node)]),
  ];
}
