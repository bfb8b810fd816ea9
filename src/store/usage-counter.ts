/** Requests that were counted and are not in the store yet, by UTC day and key. */
import { monthOf } from "../contract/time.ts";
import { createCalendar } from "./calendar.ts";
import type { KeyNumber } from "./reading.ts";
import type { UsageCounter, UsagePart, UsageReader } from "./usage.ts";

export interface CountedUsage extends UsageCounter {
  /**
   * Some of the counts that wait, the oldest first; null when none waits. They stay counted here until they are
   * dropped.
   */
  next(): UsagePart | null;
  /**
   * Drops the part, because it is in the store now; false when everything is that was counted when its first part was
   * asked for.
   */
  drop(part: UsagePart): boolean;
}

type Counts = Map<string, Map<KeyNumber, number>>;

/** The counts of so many keys take a millisecond or two to write, in which no request is answered. */
const keysAtOnce = 500;

/** Counts requests on top of what a reader finds in the store. */
export function createUsageCounter(kept: UsageReader): CountedUsage {
  let pending: Counts = new Map();
  /** What waited when the writing began, until it is in the store. */
  let leaving: Counts = new Map();
  const currentDay = createCalendar();

  function countedOn(day: string, key: KeyNumber): number {
    return (leaving.get(day)?.get(key) ?? 0) + (pending.get(day)?.get(key) ?? 0);
  }

  return {
    count(key, nowMs) {
      const today = currentDay(nowMs);
      let counts = pending.get(today);
      if (counts === undefined) pending.set(today, (counts = new Map()));
      counts.set(key, (counts.get(key) ?? 0) + 1);
    },
    of(key, nowMs) {
      const today = currentDay(nowMs);
      const [first, last] = monthOf(today);
      const totals = { today: 0, month: 0 };
      const add = (day: string, requests: number) => {
        totals.month += requests;
        if (day === today) totals.today += requests;
      };
      for (const { day, requests } of kept.between(key, first, last)) add(day, requests);
      for (const day of new Set([...leaving.keys(), ...pending.keys()])) {
        if (day >= first && day <= last) add(day, countedOn(day, key));
      }
      return totals;
    },
    next() {
      if (leaving.size === 0) [leaving, pending] = [pending, leaving];
      const [oldest] = leaving;
      if (oldest === undefined) return null;
      const [day, counts] = oldest;
      return { day, counts: [...counts.entries().take(keysAtOnce)] };
    },
    drop({ day, counts }) {
      const left = leaving.get(day);
      for (const [key] of counts) left?.delete(key);
      if (left?.size === 0) leaving.delete(day);
      return leaving.size > 0;
    },
  };
}
