/** Charts as SVG, drawn by Plot. Their colours are those of the page. */
import type { Bar } from "../terminal/chart.ts";
import { grouped } from "../terminal/numbers.ts";

/** Draws bars of what was counted, such as leads. One of them at least is above zero. */
export type Draw = (bars: readonly Bar[], counted: string) => string;

export interface Charts {
  /** Vertical bars, one for each day or month. */
  readonly overTime: Draw;
  /** Horizontal bars, each with its number at the end; a sum has its number alone. */
  readonly ranking: Draw;
}

/** A phone shows this width without making the letters smaller. */
const width = 360;
const rowHeight = 24;
const titlesShown = 5;
const longestName = 14;

/** Loads the libraries. That takes 0.2 seconds, so only this command does it. */
export async function openCharts(): Promise<Charts> {
  const Plot = await import("@observablehq/plot");
  const { parseHTML } = await import("linkedom");
  const { document } = parseHTML("<html></html>");
  const common = { document, width, style: { fontSize: "11px" } };
  return {
    overTime(bars, counted) {
      const most = Math.max(...bars.map(({ count }) => count));
      const shown = bars.filter((_, place) => place % Math.ceil(bars.length / titlesShown) === 0);
      return Plot.plot({
        ...common,
        height: 180,
        x: {
          label: null,
          domain: bars.map(({ label }) => label),
          ticks: shown.map(({ label }) => label),
          tickFormat: shortDate,
        },
        // With more ticks than that, the axis would count halves.
        y: { label: counted, grid: true, ticks: Math.min(4, most) },
        marks: [Plot.barY(bars, { x: "label", y: "count", fill: "var(--bar)" }), Plot.ruleY([0])],
      }).outerHTML;
    },
    ranking(bars) {
      return Plot.plot({
        ...common,
        height: bars.length * rowHeight + 10,
        marginLeft: 120,
        marginRight: 50,
        marginTop: 0,
        marginBottom: 0,
        x: { axis: null },
        y: { label: null, domain: bars.map(({ label }) => label), tickSize: 0, tickFormat: shorten },
        marks: [
          Plot.barX(bars, { x: lengthOf, y: "label", fill: "var(--bar)" }),
          Plot.text(bars, {
            x: lengthOf,
            y: "label",
            text: ({ count }: Bar) => grouped(count),
            textAnchor: "start",
            dx: 4,
          }),
        ],
      }).outerHTML;
    },
  };
}

function lengthOf({ count, isSum }: Bar): number {
  return isSum ? 0 : count;
}

/** `2026-11-05` as Nov 5, `2026-11` as Nov 2026. */
function shortDate(label: string): string {
  const isDay = label.length === "2026-11-05".length;
  const written = new Intl.DateTimeFormat("en-US", {
    timeZone: "UTC",
    month: "short",
    ...(isDay ? { day: "numeric" } : { year: "numeric" }),
  });
  return written.format(new Date(label));
}

/** A name that fits beside its bar; the table has all of it. */
function shorten(label: string): string {
  return label.length <= longestName ? label : `${label.slice(0, longestName - 1)}…`;
}
