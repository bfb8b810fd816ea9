/** Charts as SVG. Their colors are those of the page. */
import { type Bar, shorten } from "../terminal/chart.ts";
import { grouped } from "../terminal/numbers.ts";

/** Draws bars of what was counted, such as leads. At least one of them is above zero. */
export type Draw = (bars: readonly Bar[]) => string;

/** The width that a phone leaves inside a figure: letters stay as large as they are. */
const width = 305;
const fontSize = 11;
/** The width of a digit; other letters are wider. */
const digitWidth = 6.5;
const maxTitles = 5;
const maxGridLines = 4;

/** Draws a vertical bar for each day or month. */
export function drawOverTime(bars: readonly Bar[]): string {
  const [height, top, bottom] = [180, 12, 24];
  const max = Math.max(...bars.map(({ count }) => count));
  const step = stepFor(max);
  const highest = Math.ceil(max / step) * step;
  const left = grouped(highest).length * digitWidth + 8;
  const y = (count: number) => height - bottom - (count / highest) * (height - top - bottom);
  const slot = (width - left) / bars.length;
  const grid = Array.from({ length: highest / step + 1 }, (_, place) => place * step).map(
    (count) =>
      `<line x1="${left}" x2="${width}" y1="${y(count)}" y2="${y(count)}" stroke="var(--line)"/>` +
      label(left - 4, y(count) + 4, "end", grouped(count)),
  );
  const shown = Math.ceil(bars.length / maxTitles);
  const columns = bars.map(({ label: title, count }, place) => {
    const x = left + place * slot;
    const column = `<rect x="${x + slot * 0.1}" y="${y(count)}" width="${slot * 0.8}" height="${y(0) - y(count)}" fill="var(--bar)"/>`;
    // The title stays inside the figure at both ends.
    const center = Math.min(Math.max(x + slot / 2, left + 20), width - 25);
    return place % shown === 0 ? column + label(center, height - 8, "middle", shortDate(title)) : column;
  });
  return svg(height, [...grid, ...columns]);
}

/** Draws a horizontal bar for each name, with its number at the end. A sum has its number alone. */
export function drawRanking(bars: readonly Bar[]): string {
  const [left, right, rowHeight] = [100, 60, 24];
  const max = Math.max(...bars.map(({ count, isSum }) => (isSum ? 0 : count)));
  const rows = bars.map(({ label: name, count, isSum }, place) => {
    const length = isSum ? 0 : (count / max) * (width - left - right);
    const y = place * rowHeight;
    return (
      label(left - 6, y + 16, "end", shorten(name, 14)) +
      `<rect x="${left}" y="${y + 3}" width="${length}" height="${rowHeight - 6}" fill="var(--bar)"/>` +
      label(left + length + 4, y + 16, "start", grouped(count))
    );
  });
  return svg(bars.length * rowHeight, rows);
}

/** The figure says in words what it shows; a screen reader would read the letters of the axes. */
function svg(height: number, parts: readonly string[]): string {
  return `<svg viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" font-size="${fontSize}" fill="currentColor" aria-hidden="true">${parts.join("")}</svg>`;
}

function label(x: number, y: number, anchor: "start" | "middle" | "end", text: string): string {
  return `<text x="${x}" y="${y}" text-anchor="${anchor}">${Bun.escapeHTML(text)}</text>`;
}

/** The distance of grid lines: a whole 1, 2, or 5 with zeros, so that there are only a few lines. */
function stepFor(max: number): number {
  const power = 10 ** Math.floor(Math.log10(Math.max(max / maxGridLines, 1)));
  return ([1, 2, 5].find((factor) => max / (factor * power) <= maxGridLines) ?? 10) * power;
}

/** `2026-11-05` as Nov 5, `2026-11` as Nov 2026. */
function shortDate(title: string): string {
  const isDay = title.length === "2026-11-05".length;
  const format = new Intl.DateTimeFormat("en-US", {
    timeZone: "UTC",
    month: "short",
    ...(isDay ? { day: "numeric" } : { year: "numeric" }),
  });
  return format.format(new Date(title));
}
