/** Every page of leads reads about as many rows as it returns: SQLite is asked how it goes about each statement. */
import { expect, onTestFinished, test } from "bun:test";
import { join } from "node:path";
import { getTableName } from "drizzle-orm";
import { filterNames, filters, type LeadFilter } from "../../src/contract/filters.ts";
import { preparePage } from "../../src/db/leads.ts";
import { openDatabase } from "../../src/db/open.ts";
import { leads } from "../../src/db/schema.ts";
import { openDestination } from "../../src/import/write/lead-writer.ts";
import { newLead, noonMs, someLeads } from "../support/builders.ts";
import { anAccount, openTestDatabase, writeLeads } from "../support/database.ts";
import { aFolder } from "../support/folder.ts";

/** The columns of the index for a combination. One with an index of its own is searched by it if it is the only one. */
function columnsFor(chosen: readonly LeadFilter[]): string[] {
  const own = chosen.filter((name) => filters[name].index === "own");
  const others = chosen.filter((name) => !own.includes(name));
  const isAlone = others.every((name) => filters[name].index === "everywhere");
  const searched = [...(isAlone ? own.slice(0, 1) : []), ...others];
  return searched.map((name) => filters[name].column).map((column) => (/^\w+$/.test(column) ? column : "<expr>"));
}

const combinations = Array.from({ length: 2 ** filterNames.length }, (_, bits) => {
  const chosen = filterNames.filter((_, index) => (bits >> index) & 1);
  return [chosen.join(", ") || "nothing", chosen] as const;
});

test.each(combinations)("a page filtered by %s searches one index by all of it, and sorts nothing", (_, chosen) => {
  const database = openDatabase(join(aFolder(), "leadfile.db"));
  const statement = preparePage(database, chosen).getQuery();
  const steps = database.$client
    .query<{ detail: string }, null[]>(`EXPLAIN QUERY PLAN ${statement.sql}`)
    .all(...statement.params.map(() => null))
    .map((step) => step.detail);
  database.$client.close();

  expect(steps.filter((step) => /TEMP B-TREE|^SCAN/i.test(step))).toEqual([]);
  const searches = steps.filter((step) => step.startsWith(`SEARCH ${getTableName(leads)} `));
  expect(searches.length).toBeGreaterThan(0);
  for (const search of searches) {
    for (const column of ["account", ...columnsFor(chosen)]) expect(search).toContain(`${column}=?`);
    expect(search).toContain("identified_at>? AND identified_at<?");
  }
});

test("an import of leads that share a time, with each other and with stored ones, looks for a free one once", () => {
  const database = openTestDatabase(join(aFolder(), "leadfile.db"));
  onTestFinished(database.close);
  const account = anAccount(database);
  const searchesOf = (count: number) => {
    const destination = openDestination(database.read, account.number, noonMs);
    let searches = 0;
    const firstFree = (ms: number) => {
      searches++;
      return destination.leads.firstFree(ms);
    };
    const leads = someLeads(count, { identified_at: "2026-01-31T00:00:00.000Z" }).map(newLead);
    const options = { onDuplicate: "skip", createPixels: true, dryRun: false, nowMs: noonMs } as const;
    const outcomes = writeLeads({ ...destination, leads: { ...destination.leads, firstFree } }, leads, options);
    expect(outcomes.filter(({ kind }) => kind !== "imported")).toEqual([]);
    return searches;
  };
  // A search goes through all leads that share the time.
  expect([searchesOf(20), searchesOf(20)]).toEqual([1, 1]);
});
