/** Counts as bars: over time, or the largest ones. Drawn for a terminal, in lines of at most 80 columns. */
import type { Share } from "../../db/stats.ts";
import { columnsOf } from "../../process.ts";
import { printable } from "../../user-error.ts";
import { grouped } from "../terminal/numbers.ts";
import { shorten } from "../terminal/table.ts";

export interface Bar {
  readonly label: string;
  readonly count: number;
  /** The sum of several counts. It gets no bar, which would make those of single counts too short to compare. */
  readonly isSum?: true;
}

export interface Timeline {
  readonly unit: "day" | "month";
  readonly bars: readonly Bar[];
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

/** Returns the sum of all counts. */
export function sumOf(shares: readonly Share[]): number {
  return shares.reduce((sum, { count }) => sum + count, 0);
}

/** Returns a bar for every day of the period, or for every month of a long one, including those without a count. */
export function overTime(period: readonly string[], counts: readonly Share[]): Timeline {
  const unit = period.length > maxDaysShown ? "month" : "day";
  const length = unit === "month" ? "2026-01".length : "2026-01-31".length;
  const sums = new Map(period.map((day) => [day.slice(0, length), 0]));
  for (const { name, count } of counts) {
    const label = (name ?? "").slice(0, length);
    // By the clock of its source, a lead may be newer than today.
    sums.set(label, (sums.get(label) ?? 0) + count);
  }
  return { unit, bars: [...sums].map(([label, count]) => ({ label, count })) };
}

/** Returns a bar for each of the largest shares, and one for all others. */
export function largest(shares: readonly Share[]): Bar[] {
  const bars = shares.map(({ name, count }) => ({ label: name ?? "(none)", count }));
  if (bars.length <= maxShares) return bars;
  const [shown, others] = [bars.slice(0, maxShares - 1), shares.slice(maxShares - 1)];
  return [...shown, { label: `${others.length} others`, count: sumOf(others), isSum: true }];
}

/** The count of the longest bar. */
export function maxCount(bars: readonly Bar[]): number {
  return Math.max(0, ...bars.map(({ count, isSum }) => (isSum ? 0 : count)));
}

/** Draws one line for each bar. The longest fills the width; a count above 0 shows at least a sliver. */
export function chart(bars: readonly Bar[], width = Math.min(columnsOf(process.stdout) ?? maxWidth, maxWidth)): string {
  const maxLabelWidth = Math.max(minLabelWidth, Math.floor(width * 0.3));
  const labels = bars.map(({ label }) => shorten(printable(label), maxLabelWidth));
  const numbers = bars.map(({ count }) => grouped(count));
  const labelWidth = Math.max(...labels.map((label) => Bun.stringWidth(label)));
  const numberWidth = Math.max(...numbers.map((number) => number.length));
  const barWidth = Math.max(1, width - labelWidth - numberWidth - 4);
  const max = Math.max(maxCount(bars), 1);
  const lines = bars.map(({ count, isSum }, place) => {
    const label = labels[place] ?? "";
    const pad = " ".repeat(labelWidth - Bun.stringWidth(label));
    const number = (numbers[place] ?? "").padStart(numberWidth);
    return `${label}${pad}  ${number}  ${isSum ? "" : draw((count / max) * barWidth)}`.trimEnd();
  });
  return lines.join("\n");
}

function draw(length: number): string {
  const parts = length === 0 ? 0 : Math.max(1, Math.round(length * 8));
  return "█".repeat(Math.floor(parts / 8)) + (eighths[parts % 8] ?? "");
}
