/** The requests of each key, counted in memory until they are in the store. */
import { dayMs, dayOf, monthOf } from "../contract/calendar.ts";
import type { KeyNumber } from "./reading.ts";
import type { CountedUsage, UsageReader } from "./usage.ts";

/** By the number of a UTC day since 1970, which costs less than its name, and by key. */
type Counts = Map<number, Map<KeyNumber, number>>;

/** The counts of this many keys take a millisecond or two to write, in which no request is answered. */
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
