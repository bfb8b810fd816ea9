/** The figures of a period as bars: over time, and the largest ones. */
import type { Share } from "../../db/stats.ts";
import type { Bar } from "../terminal/chart.ts";

/** The longest period that can be looked at. */
export const maxDays = 3_660;
/** A longer period is shown by month. */
const daysShown = 62;
/** At most this many lines: the largest, and one for all others. */
const sharesShown = 10;

/** The sum of all counts. */
export function sumOf(shares: readonly Share[]): number {
  return shares.reduce((sum, { count }) => sum + count, 0);
}

export interface Timeline {
  readonly unit: "day" | "month";
  readonly bars: readonly Bar[];
}

/** A bar for every day of the period, or for every month of a long one, also where nothing came. */
export function overTime(period: readonly string[], counts: readonly Share[]): Timeline {
  const unit = period.length > daysShown ? "month" : "day";
  const length = unit === "month" ? "2026-01".length : "2026-01-31".length;
  const sums = new Map(period.map((day) => [day.slice(0, length), 0]));
  for (const { name, count } of counts) {
    const label = (name ?? "").slice(0, length);
    // By the clock of its source a lead may be newer than today.
    sums.set(label, (sums.get(label) ?? 0) + count);
  }
  return { unit, bars: [...sums].map(([label, count]) => ({ label, count })) };
}

/** The largest first; the last line is for all others. */
export function largest(shares: readonly Share[]): Bar[] {
  const bars = shares.map(({ name, count }) => ({ label: name ?? "(none)", count }));
  if (bars.length <= sharesShown) return bars;
  const others = sumOf(shares.slice(sharesShown - 1));
  return [
    ...bars.slice(0, sharesShown - 1),
    { label: `${bars.length - sharesShown + 1} others`, count: others, isSum: true },
  ];
}
