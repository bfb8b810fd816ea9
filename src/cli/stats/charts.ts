/** The counts of an account as charts, which the terminal and the page show: over time, or the largest ones. */
import type { Share, Stats } from "../../db/stats.ts";
import { printable } from "../../user-error.ts";
import { grouped } from "../terminal/numbers.ts";
import { columnsOf, pad } from "../terminal/table.ts";

interface Bar {
  readonly label: string;
  readonly count: number;
  /** The sum of several counts. It gets no bar, which would make those of single counts too short to compare. */
  readonly isSum?: true;
}

export interface Chart {
  readonly title: string;
  /** The kind of the labels, such as `day` or `pixel`. */
  readonly label: string;
  readonly bars: readonly Bar[];
  /** The sentence in place of no bars. */
  readonly nothing: string;
}

/** A longer period is shown by month. */
const maxDaysShown = 62;
/** The largest ones, and one line for all others. */
const maxShares = 10;
const maxWidth = 80;
/** A date fits. */
const minLabelWidth = 10;
/** A bar grows by eighths of a character. */
const eighths = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];

/** Returns the charts of the leads. `period` has every day, oldest first. */
export function leadCharts(period: readonly string[], { byDay, byPixel, byState, bySource }: Stats): Chart[] {
  const nothing = "There are no leads in this period.";
  const ranking = (label: string, shares: readonly Share[]): Chart => {
    return { title: `Leads by ${label}`, label, bars: largest(shares), nothing };
  };
  return [
    { ...overTime("Leads", period, byDay), nothing },
    ranking("pixel", byPixel),
    ranking("state", byState),
    ranking("source", bySource),
  ];
}

/** Returns a chart of the requests of each key; an empty one if no key made any. */
export function requestCharts(period: readonly string[], { requests }: Stats): Chart[] {
  const nothing = "There are no requests in this period.";
  if (requests.length === 0) return [{ title: "Requests", label: "day", bars: [], nothing }];
  return [...Map.groupBy(requests, ({ key }) => key)].map(([key, rows]) => {
    const label = rows[0]?.label == null ? "" : ` (${rows[0].label})`;
    const counts = rows.map(({ day, requests }) => ({ name: day, count: requests }));
    return { ...overTime(`Requests of ${key}${label}`, period, counts), nothing };
  });
}

/** Returns the sum of the counts. */
export function sumOf(shares: readonly Share[]): number {
  return shares.reduce((sum, { count }) => sum + count, 0);
}

/**
 * Returns a bar for every day of the period, or for every month of a long one. It begins with the first one that has a count:
 * earlier ones would push the rest off the screen.
 */
function overTime(what: string, period: readonly string[], counts: readonly Share[]): Omit<Chart, "nothing"> {
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

/** Returns a bar for each of the largest shares, and one for all others. */
function largest(shares: readonly Share[]): Bar[] {
  const bars = shares.map(({ name, count }) => ({ label: name ?? "(none)", count }));
  if (bars.length <= maxShares) return bars;
  const [shown, others] = [bars.slice(0, maxShares - 1), shares.slice(maxShares - 1)];
  return [...shown, { label: `${others.length} others`, count: sumOf(others), isSum: true }];
}

/** Returns the lengths of the bars, from 0 to 1. The longest is 1. */
export function lengthsOf(bars: readonly Bar[]): number[] {
  const counts = bars.map(({ count, isSum }) => (isSum ? 0 : count));
  const max = Math.max(1, ...counts);
  return counts.map((count) => count / max);
}

/** Draws one line for each bar. The longest fills the width; a count above 0 shows at least a sliver. */
export function draw(bars: readonly Bar[], width = Math.min(columnsOf(process.stdout) ?? maxWidth, maxWidth)): string {
  const maxLabelWidth = Math.max(minLabelWidth, Math.floor(width * 0.3));
  const widest = Math.max(...bars.map(({ label }) => Bun.stringWidth(printable(label))));
  const labelWidth = Math.min(maxLabelWidth, widest);
  const numberWidth = Math.max(...bars.map(({ count }) => grouped(count).length));
  const barWidth = Math.max(1, width - labelWidth - numberWidth - 4);
  const lengths = lengthsOf(bars);
  const lines = bars.map(({ label, count }, place) => {
    const number = grouped(count).padStart(numberWidth);
    return `${pad(printable(label), labelWidth)}  ${number}  ${drawBar((lengths[place] ?? 0) * barWidth)}`.trimEnd();
  });
  return lines.join("\n");
}

function drawBar(length: number): string {
  const parts = length === 0 ? 0 : Math.max(1, Math.round(length * 8));
  return "█".repeat(Math.floor(parts / 8)) + (eighths[parts % 8] ?? "");
}
