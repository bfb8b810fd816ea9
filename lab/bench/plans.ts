/** bun run plans: what each combination of filters costs inside the database, as a table and as a chart. */
import { dayMs } from "../../src/contract/calendar.ts";
import { toLeadQuery } from "../../src/contract/parameters.ts";
import { openLeads } from "../../src/db/leads.ts";
import { openDatabase } from "../../src/db/open.ts";
import { labCommand, readCount } from "../commands.ts";
import { median } from "../quantile.ts";
import { type Random, seeded } from "../random.ts";
import { prepareData } from "./data.ts";
import { yearMs, yearStartMs } from "./leads.ts";
import { line } from "./report.ts";

const pages = ["newest", "deep", "slice"] as const;
const times = 300;
/** The most that a combination may take: times the unfiltered first page. */
const goal = 2.5;
const account = 1;

const { filters: nothing } = toLeadQuery({});
const usual = { pixel: { pixel_id: "px_shop" }, state: { state: "CA" }, city: { city: "los angeles" } };
const every: Readonly<Record<string, object>> = { ...usual, "e-mail": { has_email: true } };
/** The 16 combinations of filters with what most leads match. */
const combinations = Array.from({ length: 16 }, (_, bits) => {
  const chosen = Object.entries(every).filter((_, place) => (bits >> place) & 1);
  const name = chosen.map(([filter]) => filter).join(", ") || "none";
  return { name, filters: Object.assign({}, ...chosen.map(([, value]) => value)) };
});
/** And values that match few or none. */
const cases: readonly { readonly name: string; readonly filters: Partial<typeof nothing> }[] = [
  ...combinations,
  { name: "CA with Miami", filters: { state: "CA", city: "miami" } },
  { name: "CA with Miami, e-mail", filters: { state: "CA", city: "miami", has_email: true } },
  { name: "pixel, CA with Miami", filters: { pixel_id: "px_shop", state: "CA", city: "miami" } },
  { name: "a rare city in CA", filters: { state: "CA", city: "needles" } },
  { name: "a rare city in CA, e-mail", filters: { state: "CA", city: "needles", has_email: true } },
  { name: "pixel, a rare city", filters: { pixel_id: "px_shop", city: "needles" } },
  { name: "a state without leads", filters: { state: "ZZ" } },
  { name: "a city without leads", filters: { city: "nowhere" } },
  { name: "pixel, a state without leads", filters: { pixel_id: "px_shop", state: "ZZ" } },
];
type Case = (typeof cases)[number];

const { leads, chart } = labCommand("bun run plans", "Measures each combination of filters in the database.")
  .option("--leads <n>", "leads in the file", readCount, 1_000_000)
  .option("--chart <file>", "draw the table as a chart, in SVG")
  .parse()
  .opts<{ readonly leads: number; readonly chart?: string }>();
const database = openDatabase((await prepareData(leads)).leadfile);
const reader = openLeads(database);

// In several rounds, so that what disturbs the machine disturbs all alike. The best round of each counts.
const rounds = Array.from({ length: 3 }, () => cases.map((asked) => pages.map((page) => medianUs(asked, page))));
const bestUs = cases.map((_, row) =>
  pages.map((_, column) => Math.min(...rounds.map((round) => round[row]?.[column] ?? 0))),
);
const baseUs = bestUs[0]?.[0] ?? Number.NaN;
const size = `${leads.toLocaleString("en-US")} leads, page of 25`;
const table = cases.map(({ name }, row) =>
  line(name, ...(bestUs[row] ?? []).map((us) => `${us.toFixed(0)} (${(us / baseUs).toFixed(2)})`)),
);
process.stdout.write(
  `${size}; µs, and times the unfiltered first page\n${[line("", ...pages), ...table].join("\n")}\n`,
);
const bars = cases.map(({ name }, row) => ({ name, ratio: Math.max(...(bestUs[row] ?? [])) / baseUs }));
if (chart !== undefined) await Bun.write(chart, draw(bars));
database.$client.close();

/** The microseconds of a page, the first ones not counted. */
function medianUs(asked: Case, page: (typeof pages)[number]): number {
  const random = seeded(1);
  const taken = Array.from({ length: times }, () => {
    const query = { limit: 25, filters: { ...nothing, ...asked.filters }, ...boundsOf(page, random) };
    const startedNs = Bun.nanoseconds();
    reader.page(account, query);
    return (Bun.nanoseconds() - startedNs) / 1000;
  });
  return median(taken.slice(times / 6));
}

/** A slice is two days somewhere in the year. */
function boundsOf(page: (typeof pages)[number], random: Random) {
  const beforeMs = page === "newest" ? null : Math.floor(yearStartMs + yearMs * (0.01 + 0.99 * random.next()));
  return { beforeMs, sinceMs: page === "slice" && beforeMs !== null ? beforeMs - 2 * dayMs : null };
}

/** A bar chart as SVG, readable on light and on dark ground, for a document. */
function draw(bars: readonly { readonly name: string; readonly ratio: number }[]): string {
  const [left, width, rowHeight, top] = [220, 760, 22, 56];
  const scale = (width - left - 60) / Math.max(goal + 0.2, ...bars.map((bar) => bar.ratio));
  const bottom = top + bars.length * rowHeight + 4;
  const goalX = (left + goal * scale).toFixed(1);
  const rows = bars.map(({ name, ratio }, place) => {
    const y = top + place * rowHeight;
    const length = ratio * scale;
    return [
      `<text class="ink" x="${left - 10}" y="${y + 14}" text-anchor="end">${name}</text>`,
      `<rect class="${ratio > goal ? "over" : "bar"}" x="${left}" y="${y + 3}" width="${length.toFixed(1)}" height="15" rx="2"/>`,
      `<text class="ink" x="${(left + length + 6).toFixed(1)}" y="${y + 14}">${ratio.toFixed(2)}</text>`,
    ].join("");
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${bottom + 30}" width="${width}" height="${bottom + 30}" role="img" aria-labelledby="title">
<title id="title">Time of each combination of filters as a multiple of the unfiltered first page</title>
<style>
text { font: 13px system-ui, sans-serif; }
.ink { fill: #24292f; } .pale { fill: #57606a; } .bar { fill: #2f6fbd; } .over { fill: #c4432b; }
.goal { stroke: #c4432b; stroke-dasharray: 4 3; }
@media (prefers-color-scheme: dark) {
.ink { fill: #e6edf3; } .pale { fill: #9aa4af; } .bar { fill: #58a6ff; } .over { fill: #ff7b6b; } .goal { stroke: #ff7b6b; }
}
</style>
<text class="ink" x="${left}" y="20" font-weight="600">Slowest of newest, deep and sliced page, times the unfiltered first page</text>
<text class="pale" x="${left}" y="40">${size}</text>
${rows.join("\n")}
<line class="goal" x1="${goalX}" x2="${goalX}" y1="${top - 4}" y2="${bottom}"/>
<text class="pale" x="${goalX}" y="${bottom + 18}" text-anchor="middle">goal: at most ${goal}</text>
</svg>
`;
}
