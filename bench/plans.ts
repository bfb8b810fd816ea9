/** bun bench/plans.ts: what each combination of filters costs inside the store, as a table and as a chart. */
import { parseArgs } from "node:util";
import { openLeads, preparePage } from "../src/sqlite/leads.ts";
import { openDatabase } from "../src/sqlite/open.ts";
import { type Bar, writeChart } from "./chart.ts";
import { prepareLeadfile } from "./data.ts";
import { seeded, yearMs, yearStartMs } from "./leads.ts";
import { readCount } from "./options.ts";
import { type Case, cases, type Where } from "./plan-cases.ts";
import { median } from "./report.ts";

const times = 300;
const account = 1;
const { values } = parseArgs({
  options: { leads: { type: "string", default: "1000000" }, chart: { type: "string" }, json: { type: "boolean" } },
});
const leads = readCount("--leads", values.leads);
const database = openDatabase((await prepareLeadfile(leads)).leadfile);
const reader = openLeads(database);

const rows = measureAll();
const base = rows[0]?.us.newest ?? Number.NaN;
const ratio = (us: number) => us / base;
process.stdout.write(values.json ? `${JSON.stringify({ leads, base, rows })}\n` : table());
if (values.chart !== undefined) await Bun.write(values.chart, writeChart(`${size()} leads, page of 25`, bars()));
database.$client.close();

interface Row {
  readonly name: string;
  readonly index: string;
  /** How many leads the page without bounds has. */
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
  const random = seeded(1);
  const medianOf = (where: Where) => {
    const taken = Array.from({ length: times }, () => {
      const query = queryFor(asked, where, random);
      const startedNs = Bun.nanoseconds();
      reader.page(account, query);
      return (Bun.nanoseconds() - startedNs) / 1000;
    });
    return median(taken.slice(times / 6));
  };
  return { newest: medianOf("newest"), deep: medianOf("deep"), slice: medianOf("slice") };
}

/** A slice is two days somewhere in the year. */
function queryFor({ filters }: Case, where: Where, random: () => number) {
  const beforeMs = where === "newest" ? null : Math.floor(yearStartMs + yearMs * (0.01 + 0.99 * random()));
  const sinceMs = where === "slice" && beforeMs !== null ? beforeMs - 2 * 86_400_000 : null;
  return { limit: 25, beforeMs, sinceMs, pixelId: null, state: null, city: null, hasEmail: false, ...filters };
}

/** The index that the plan names; the table is its own index where no other is named. */
function indexOf({ filters }: Case): string {
  const { pixelId, state, city, hasEmail } = filters;
  const asked = { pixel: pixelId !== undefined, state: state !== undefined, city: city !== undefined };
  const { sql, params } = preparePage(database, { ...asked, email: hasEmail === true }).getQuery();
  const plan = database.$client.query<{ detail: string }, null[]>(`EXPLAIN QUERY PLAN ${sql}`);
  const steps = plan.all(...params.map(() => null)).map((step) => step.detail);
  const searched = steps.filter((step) => step.startsWith("SEARCH stored_leads"));
  const names = searched.map((step) => /INDEX (\w+)/.exec(step)?.[1] ?? "key of the table");
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
  return `${size()} leads; µs a page, and times the unfiltered first page\n\n${[head, ...lines].join("\n")}\n\n${told}\n`;
}

function size(): string {
  return leads.toLocaleString("en-US");
}
