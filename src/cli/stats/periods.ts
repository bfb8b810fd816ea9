/** The figures of a period as bars: over time, and the largest of everything. */
import type { Share } from "../../store/admin.ts";
import type { Bar } from "../terminal/chart.ts";

/** More days than this are shown by month. */
const daysShown = 62;
/** Of states, pixels and sources, the largest; the others together. */
const sharesShown = 10;

/** How much all of it is together. */
export function sumOf(shares: readonly Share[]): number {
  return shares.reduce((sum, { count }) => sum + count, 0);
}

export interface Timeline {
  readonly unit: "day" | "month";
  readonly bars: readonly Bar[];
}

/** A bar for every day of the period, or for every month of a long one, those without anything too. */
export function overTime(period: readonly string[], counts: readonly Share[]): Timeline {
  const unit = period.length > daysShown ? "month" : "day";
  const length = unit === "month" ? "2026-01".length : "2026-01-31".length;
  const sums = new Map(period.map((day) => [day.slice(0, length), 0]));
  for (const { name, count } of counts) {
    const label = (name ?? "").slice(0, length);
    // A lead may be of later than today by the clock of a source.
    sums.set(label, (sums.get(label) ?? 0) + count);
  }
  return { unit, bars: [...sums].map(([label, count]) => ({ label, count })) };
}

/** The largest first; what is beyond the tenth is one bar. */
export function largest(shares: readonly Share[]): Bar[] {
  const bars = shares.map(({ name, count }) => ({ label: name ?? "(none)", count }));
  if (bars.length <= sharesShown) return bars;
  const others = sumOf(shares.slice(sharesShown - 1));
  return [...bars.slice(0, sharesShown - 1), { label: `${bars.length - sharesShown + 1} others`, count: others }];
}
