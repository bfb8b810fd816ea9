/** The counts of an account as charts, which the terminal and the page show: over time, or the largest ones. */
import type { Share, Stats } from "./counts.ts";

interface Bar {
  readonly label: string;
  readonly count: number;
}

/** Labelled counts, for a terminal or a page to draw. */
export interface Chart {
  readonly title: string;
  /** The kind of the labels, such as `day` or `pixel`. */
  readonly label: string;
  /** Empty if nothing was counted. */
  readonly bars: readonly Bar[];
}

/** A longer period is shown by month. */
const maxDaysShown = 62;
const maxShares = 10;

/** Returns the charts of the leads and of the requests of each key. `period` has every day, oldest first. */
export function chartsOf(period: readonly string[], { byDay, byPixel, byState, bySource, requests }: Stats): Chart[] {
  return [
    overTime("Leads", period, byDay),
    ranking("pixel", byPixel),
    ranking("state", byState),
    ranking("source", bySource),
    ...(requests.length === 0 ? [overTime("Requests", period, [])] : []),
    ...[...Map.groupBy(requests, ({ key }) => key)].map(([key, rows]) => {
      const label = rows[0]?.label == null ? "" : ` (${rows[0].label})`;
      const counts = rows.map(({ day, requests }) => ({ name: day, count: requests }));
      return overTime(`Requests of ${key}${label}`, period, counts);
    }),
  ];
}

/** Returns the sum of the counts. */
export function sumOf(shares: readonly Share[]): number {
  return shares.reduce((sum, { count }) => sum + count, 0);
}

/**
 * Returns a bar for every day of the period, or for every month of a long one. It begins with the first one that has a count:
 * earlier ones would push the rest off the screen.
 */
function overTime(what: string, period: readonly string[], counts: readonly Share[]): Chart {
  const label = period.length > maxDaysShown ? "month" : "day";
  const length = label === "month" ? "2026-01".length : "2026-01-31".length;
  const sums = new Map(period.map((day) => [day.slice(0, length), 0]));
  for (const { name, count } of counts) {
    const start = (name ?? "").slice(0, length);
    // By the clock of its source, a lead may be newer than today.
    sums.set(start, (sums.get(start) ?? 0) + count);
  }
  const bars = [...sums].map(([label, count]) => ({ label, count }));
  const first = bars.findIndex(({ count }) => count > 0);
  return { title: `${what} per ${label}`, label, bars: first < 0 ? [] : bars.slice(first) };
}

/** Returns a bar for each of the largest shares. The title says how many there are in all. */
function ranking(label: string, shares: readonly Share[]): Chart {
  const bars = shares.slice(0, maxShares).map(({ name, count }) => ({ label: name ?? "(none)", count }));
  const ofAll = shares.length > maxShares ? ` (the ${maxShares} largest of ${shares.length})` : "";
  return { title: `Leads by ${label}${ofAll}`, label, bars };
}

/** Returns the lengths of the bars, from 0 to 1. The longest is 1. */
export function lengthsOf(bars: readonly Bar[]): number[] {
  const max = Math.max(1, ...bars.map(({ count }) => count));
  return bars.map(({ count }) => count / max);
}
