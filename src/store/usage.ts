/**
 * The port of usage (§2.4). Requests are counted in memory. The counts leave in parts for the store,
 * which need not be the file from which requests are answered.
 */
import { dayMs, dayOf, monthOf } from "../contract/time.ts";
import type { KeyNumber } from "./reading.ts";

export interface UsageCounter {
  /** Counts one request; it is on disk a second later at the latest. */
  count(key: KeyNumber, nowMs: number): void;
  /** What was counted in the UTC day and month of a moment. */
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

/** What was kept of the counts, from one UTC day to another, both included. */
export interface UsageReader {
  between(key: KeyNumber, firstDay: string, lastDay: string): readonly { day: string; requests: number }[];
}

/**
 * How far the writing of counts came. idle: there was nothing to write. done: everything is written that was counted
 * when it began. more: a part is written, and others may go first before the next. locked: another program was writing.
 */
export type Flushed = "idle" | "done" | "more" | "locked";

export interface CountedUsage extends UsageCounter {
  /**
   * Some of the counts that wait, the oldest first; null when none waits. They stay counted here until they are
   * dropped.
   */
  next(): UsagePart | null;
  /** Drops a part that is in the store now. True while more is left of what waited when the first part was asked for. */
  drop(part: UsagePart): boolean;
}

/** By the number of a UTC day since 1970, which costs less than its name, and by key. */
type Counts = Map<number, Map<KeyNumber, number>>;

/** The counts of so many keys take a millisecond or two to write, in which no request is answered. */
const keysAtOnce = 500;

/** Counts requests on top of what a reader finds in the store. */
export function createUsageCounter(kept: UsageReader): CountedUsage {
  let pending: Counts = new Map();
  /** What waited when the writing began, until it is in the store. */
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
      return { day: dayOf(day * dayMs), counts: [...counts.entries().take(keysAtOnce)] };
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
