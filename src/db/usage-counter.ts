/**
 * Usage (§2.4): the requests of each key, counted in memory until they are in the database. The counts leave in parts,
 * because in a cluster they go elsewhere than to the file from which requests are answered.
 */
import { dayMs, dayOf, monthOf } from "../contract/calendar.ts";
import type { KeyNumber } from "./keys.ts";

export interface UsageCounter {
  /** Counts one request. It is on the disk within a second. */
  count(key: KeyNumber, nowMs: number): void;
  /** Returns what was counted in the current UTC day and month. */
  of(key: KeyNumber, nowMs: number): UsageCounts;
}

interface UsageCounts {
  readonly today: number;
  readonly month: number;
}

/** Requests of some keys on one UTC day. */
export interface UsagePart {
  /** `2026-01-31` */
  readonly day: string;
  readonly counts: readonly (readonly [key: KeyNumber, requests: number])[];
}

/** Reads the stored counts from one UTC day to another, both included. */
export interface UsageReader {
  between(key: KeyNumber, firstDay: string, lastDay: string): readonly { day: string; requests: number }[];
}

/**
 * The result of writing counts. idle: there was nothing to write. done: everything is written that was counted when it
 * began. more: a part is written, and others may write before the next. locked: another program was writing.
 */
export type Flushed = "idle" | "done" | "more" | "locked";

export interface CountedUsage extends UsageCounter {
  /** Returns some of the pending counts, the oldest first; null if there are none. They stay counted until `drop`. */
  next(): UsagePart | null;
  /** Drops a part that is in the database now. Returns true while more is left of what was pending at the first part. */
  drop(part: UsagePart): boolean;
}

/** Counts by the number of a UTC day since 1970, which costs less than its name, and by key. */
type Counts = Map<number, Map<KeyNumber, number>>;

/** To write the counts of this many keys takes one or two milliseconds, in which no request is answered. */
const maxKeysPerPart = 500;

/** Makes the counter of requests, on top of those that a reader finds in the database. */
export function createUsageCounter(kept: UsageReader): CountedUsage {
  let pending: Counts = new Map();
  /** What was pending when the writing began, until it is in the database. */
  let leaving: Counts = new Map();

  return {
    count(key, nowMs) {
      const day = Math.floor(nowMs / dayMs);
      const counts = pending.getOrInsertComputed(day, () => new Map());
      counts.set(key, (counts.get(key) ?? 0) + 1);
    },
    of(key, nowMs) {
      const today = dayOf(nowMs);
      const [first, last] = monthOf(today);
      const totals = { today: 0, month: 0 };
      const add = (day: string, requests: number) => {
        if (day < first || day > last) return;
        totals.month += requests;
        if (day === today) totals.today += requests;
      };
      for (const { day, requests } of kept.between(key, first, last)) add(day, requests);
      for (const [day, counts] of [...leaving, ...pending]) add(dayOf(day * dayMs), counts.get(key) ?? 0);
      return totals;
    },
    next() {
      if (leaving.size === 0) [leaving, pending] = [pending, leaving];
      const [oldest] = leaving;
      if (oldest === undefined) return null;
      const [day, counts] = oldest;
      return { day: dayOf(day * dayMs), counts: [...counts.entries().take(maxKeysPerPart)] };
    },
    drop({ day: name, counts }) {
      const day = Date.parse(name) / dayMs;
      const left = leaving.get(day);
      for (const [key] of counts) left?.delete(key);
      if (left?.size === 0) leaving.delete(day);
      return leaving.size > 0;
    },
  };
}
