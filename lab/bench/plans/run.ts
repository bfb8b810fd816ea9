/** bun lab/bench/plans/run.ts: what each combination of filters costs inside the store, as a table and as a chart. */
import { parseArgs } from "node:util";
import { dayMs } from "../../../src/contract/calendar.ts";
import { openLeads, preparePage } from "../../../src/db/leads.ts";
import { openDatabase } from "../../../src/db/open.ts";
import { readCount, readFlags } from "../../flags.ts";
import { prepareLeadfile } from "../data.ts";
import { seeded, yearMs, yearStartMs } from "../leads.ts";
import { median } from "../report.ts";
import { type Case, cases, unfiltered, type Where } from "./cases.ts";
import { type Bar, writeChart } from "./chart.ts";

const times = 300;
const account = 1;
const usage = `bun run plans [options]
  --leads N      leads in the file (default 1000000)
  --against N    another file of so many leads, of which the first page is measured in turn with this one's
  --chart FILE   draw the table as a chart, in SVG
  --json         print one JSON value instead of the table
`;

const { leads, against, chart, json } = readFlags({ command: "bun run plans", usage }, (args) => {
  const text = { type: "string" } as const;
  const options = {
    leads: { ...text, default: "1000000" },
    against: text,
    chart: text,
    json: { type: "boolean" },
  } as const;
  const { values } = parseArgs({ args, options });
  const against = values.against === undefined ? null : readCount("--against", values.against);
  return { ...values, leads: readCount("--leads", values.leads), against };
});
const database = openDatabase((await prepareLeadfile(leads)).leadfile);
const reader = openLeads(database);
const firstPages = against === null ? null : await compareFirstPages(against);

const rows = measureAll();
const base = rows[0]?.us.newest ?? Number.NaN;
const ratio = (us: number) => us / base;
process.stdout.write(json ? `${JSON.stringify({ leads, base, rows, firstPages })}\n` : table());
if (chart !== undefined) await Bun.write(chart, writeChart(`${size()} leads, page of 25`, bars()));
database.$client.close();

interface FirstPages {
  readonly leads: number;
  /** Microseconds here, and in the file of so many leads. */
  readonly here: number;
  readonly there: number;
}

/** The unfiltered first page of this file and of another one, a round here and a round there. */
async function compareFirstPages(otherLeads: number): Promise<FirstPages> {
  const other = openDatabase((await prepareLeadfile(otherLeads)).leadfile);
  const readers = { here: reader, there: openLeads(other) };
  const rounds = Array.from({ length: 20 }, () => ({
    here: medianOf(readers.here, unfiltered, "newest"),
    there: medianOf(readers.there, unfiltered, "newest"),
  }));
  other.$client.close();
  return {
    leads: otherLeads,
    here: median(rounds.map((round) => round.here)),
    there: median(rounds.map((round) => round.there)),
  };
}

interface Row {
  readonly name: string;
  readonly index: string;
  /** The number of leads on the page without bounds. */
  readonly found: number;
  readonly us: Record<Where, number>;
}

/** In several rounds, so that what disturbs the machine disturbs all alike; the best round of each counts. */
function measureAll(): Row[] {
  const rounds = Array.from({ length: 3 }, () => cases.map(measureCase));
  return cases.map((asked, place) => {
    const best = (where: Where) => Math.min(...rounds.map((round) => round[place]?.[where] ?? Number.NaN));
    const us = { newest: best("newest"), deep: best("deep"), slice: best("slice") };
    const found = reader.page(
      account,
      queryFor(asked, "newest", () => 0),
    ).documents.length;
    return { name: asked.name, index: indexOf(asked), found, us };
  });
}

function measureCase(asked: Case): Record<Where, number> {
  return {
    newest: medianOf(reader, asked, "newest"),
    deep: medianOf(reader, asked, "deep"),
    slice: medianOf(reader, asked, "slice"),
  };
}

/** The microseconds of a page, the first ones not counted. */
function medianOf(from: typeof reader, asked: Case, where: Where): number {
  const random = seeded(1);
  const taken = Array.from({ length: times }, () => {
    const query = queryFor(asked, where, random);
    const startedNs = Bun.nanoseconds();
    from.page(account, query);
    return (Bun.nanoseconds() - startedNs) / 1000;
  });
  return median(taken.slice(times / 6));
}

/** A slice is two days somewhere in the year. */
function queryFor({ filters }: Case, where: Where, random: () => number) {
  const beforeMs = where === "newest" ? null : Math.floor(yearStartMs + yearMs * (0.01 + 0.99 * random()));
  const sinceMs = where === "slice" && beforeMs !== null ? beforeMs - 2 * dayMs : null;
  return { limit: 25, beforeMs, sinceMs, pixelId: null, state: null, city: null, hasEmail: false, ...filters };
}

/** The index that the plan names. */
function indexOf({ filters }: Case): string {
  const { pixelId, state, city, hasEmail } = filters;
  const asked = { pixelId: pixelId !== undefined, state: state !== undefined, city: city !== undefined };
  const { sql, params } = preparePage(database, { ...asked, hasEmail: hasEmail === true }).getQuery();
  const plan = database.$client.query<{ detail: string }, null[]>(`EXPLAIN QUERY PLAN ${sql}`);
  const steps = plan.all(...params.map(() => null)).map((step) => step.detail);
  const searched = steps.filter((step) => step.startsWith("SEARCH stored_leads"));
  const names = searched.map((step) => /INDEX (\w+)/.exec(step)?.[1] ?? "none");
  return `${[...new Set(names)].join(", ").replaceAll("leads_by_", "")}${names.length > 1 ? ` × ${names.length}` : ""}`;
}

function bars(): Bar[] {
  return rows.map(({ name, us }) => ({ name, ratio: ratio(Math.max(us.newest, us.deep, us.slice)) }));
}

function table(): string {
  const cell = (us: number) => `${us.toFixed(0)} (${ratio(us).toFixed(2)})`.padStart(11);
  const lines = rows.map(({ name, index, found, us }) => {
    const timed = cell(us.newest) + cell(us.deep) + cell(us.slice);
    return `${name.padEnd(31)}${String(found).padStart(4)}${timed}  ${index}`;
  });
  const head = `${"filters".padEnd(31)}rows${["newest", "deep", "2 days"].map((name) => name.padStart(11)).join("")}  index`;
  const worst = bars().toSorted((a, b) => b.ratio - a.ratio)[0];
  const told = `Slowest: ${worst?.name}, ${worst?.ratio.toFixed(2)} times the unfiltered first page (${base.toFixed(0)} µs).`;
  const compared =
    firstPages === null
      ? ""
      : `The first page takes ${firstPages.here.toFixed(1)} µs, in a file of ${firstPages.leads.toLocaleString("en-US")} leads ` +
        `${firstPages.there.toFixed(1)} µs: ${(firstPages.here / firstPages.there).toFixed(2)} times.\n`;
  return `${size()} leads; µs a page, and times the unfiltered first page\n\n${[head, ...lines].join("\n")}\n\n${told}\n${compared}`;
}

function size(): string {
  return leads.toLocaleString("en-US");
}
