/** Charts as SVG, drawn by Plot. Their colours are those of the page. */
import type { PlotOptions } from "@observablehq/plot";
import { type Bar, shorten } from "../terminal/chart.ts";
import { grouped } from "../terminal/numbers.ts";

/** Draws bars of what was counted, such as leads. One of them at least is above zero. */
export type Draw = (bars: readonly Bar[], counted: string) => string;

export interface Charts {
  /** Vertical bars, one for each day or month. */
  readonly overTime: Draw;
  /** Horizontal bars, each with its number at the end; a sum has its number alone. */
  readonly ranking: Draw;
}

/** What a phone leaves inside a figure: letters stay as large as they are. */
const width = 305;
const rowHeight = 24;
const titlesShown = 5;
/** What fits beside a bar; the table has the whole name. */
const longestName = 14;

/** Loads the libraries. That takes 0.2 seconds, so only this command does it. */
export async function openCharts(): Promise<Charts> {
  const Plot = await import("@observablehq/plot");
  const { parseHTML } = await import("linkedom");
  const { document } = parseHTML("<html></html>");
  const common = { document, width, style: { fontSize: "11px" } };
  const drawn = (options: PlotOptions) => {
    const svg = Plot.plot(options);
    // The figure says in words what it shows; a screen reader would read the letters of the axes.
    svg.setAttribute("aria-hidden", "true");
    return svg.outerHTML;
  };
  return {
    overTime(bars, counted) {
      const most = Math.max(...bars.map(({ count }) => count));
      const shown = bars.filter((_, place) => place % Math.ceil(bars.length / titlesShown) === 0);
      return drawn({
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
      });
    },
    ranking(bars) {
      return drawn({
        ...common,
        height: bars.length * rowHeight + 10,
        marginLeft: 100,
        marginRight: 50,
        marginTop: 0,
        marginBottom: 0,
        x: { axis: null },
        y: {
          label: null,
          domain: bars.map(({ label }) => label),
          tickSize: 0,
          tickFormat: (name: string) => shorten(name, longestName),
        },
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
      });
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
