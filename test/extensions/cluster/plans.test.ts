/** The writes of an import to a cluster: same outcome as for a file, at a cost proportional to the step. */
import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { join } from "node:path";
import fc from "fast-check";
import { openPlanner, statementsOf } from "../../../extensions/cluster/import.ts";
import { openNodeFile } from "../../../extensions/cluster/node-file.ts";
import { tableStatements } from "../../../extensions/cluster/tables.ts";
import { importId, independentId, transactionOf } from "../../../extensions/cluster/transaction.ts";
import { anAdmin } from "../../support/admin.ts";
import { openAdminStore } from "../../support/admin-store.ts";
import { aLead, newLead, noonMs } from "../../support/builders.ts";
import { aFolder } from "../../support/folder.ts";

test("no statement of a step scans the leads of the account", () => {
  const { file } = anAdmin(["acme"]);
  using database = new Database(file);
  for (const statement of tableStatements) database.run(statement);
  const lead = {
    id: crypto.randomUUID(),
    at: 1,
    batch: 1,
    pixel: 1,
    state: null,
    cityKey: null,
    hasEmail: false,
    doc: "{}",
  };
  const plan = { since: null, outcomes: [], added: [lead], replaced: [lead], missingPixels: new Set<string>() };
  const steps = statementsOf(plan, 1, 1).flatMap(({ sql, json }) =>
    database.query<{ detail: string }, [string]>(`EXPLAIN QUERY PLAN ${sql}`).all(json),
  );
  const details = steps.map(({ detail }) => detail);
  // One to replace by its ID, and the latest transactions by their numbers.
  expect(details).toContain("SEARCH lead USING INDEX leads_by_uuid (account=? AND uuid=?)");
  expect(details).toContain("SEARCH cluster_writes USING INTEGER PRIMARY KEY (rowid>? AND rowid<?)");
  expect(details.filter((detail) => /^SCAN (?!one|json_each|found|CONSTANT)|\(account=\?\)/.test(detail))).toEqual([]);
});

test.each([
  ["a write of any command", "written", false],
  ["an import into the same account", importId(1), false],
  ["an import into another account", importId(2), true],
  ["usage counts", independentId(), true],
])("a plan since which %s was written is refused, unless it cannot depend on that", (_, id, isAccepted) => {
  const { file } = anAdmin(["acme"]);
  using database = new Database(file);
  for (const statement of tableStatements) database.run(statement);
  const write = (...transaction: ReturnType<typeof transactionOf>) =>
    database.transaction(() => {
      for (const { sql, json } of transaction) database.query(sql).run(...(sql.includes("?1") ? [json] : []));
    })();
  write(...transactionOf("before", []));
  using nodeFile = openNodeFile(file);
  const plan = openPlanner(nodeFile, 1, { onDuplicate: "skip" })([], { batch: 1, nowMs: 2, stampMs: 2 });
  write(...transactionOf(id, []));
  const writePlan = () => write(...transactionOf(importId(1), statementsOf(plan, 1, 1)));
  if (isAccepted) expect(writePlan).not.toThrow();
  else expect(writePlan).toThrow("NOT NULL");
});

const ids = Array.from({ length: 12 }, () => crypto.randomUUID());
const someLeads = fc.array(
  fc
    .record({
      id: fc.constantFrom(...ids),
      // Few times, so that leads tie with one another and with stored leads.
      identifiedMs: fc.option(fc.integer({ min: noonMs - 4, max: noonMs + 4 })),
      pixel_id: fc.constantFrom("px_site", "px_other"),
      name: fc.constantFrom("A", "B"),
    })
    .map(({ identifiedMs, ...lead }) => {
      const at = new Date(identifiedMs ?? noonMs).toISOString();
      return { ...newLead(aLead({ ...lead, identified_at: at })), identifiedMs };
    }),
  { maxLength: 12 },
);

test("a plan matches the outcome of an import, whatever leads exist", () => {
  const how = fc.record({
    onDuplicate: fc.constantFrom("skip" as const, "replace" as const),
    createPixels: fc.boolean(),
  });
  const isLikeAFile = fc.property(someLeads, someLeads, how, (before, leads, { onDuplicate, createPixels }) => {
    const path = join(aFolder(), "leadfile.db");
    const options = { onDuplicate, createPixels, dryRun: false };
    const store = openAdminStore(path);
    for (const statement of tableStatements) store.database.read.run(statement);
    using file = openNodeFile(path);
    store.accounts.create("acme", noonMs);
    const number = 1;
    store.pixels.create(number, { id: "px_site", status: "active" }, noonMs);
    store.leads.beginImport(number, { ...options, createPixels: false }).write(before, noonMs);
    const planner = openPlanner(file, number, options);
    const context = { batch: 0, nowMs: noonMs, stampMs: noonMs };
    let plan = planner(leads, context);
    if (plan.missingPixels.size > 0) {
      for (const id of plan.missingPixels) store.pixels.create(number, { id, status: "active" }, noonMs);
      plan = planner(leads, context);
    }
    const outcomes = store.leads.beginImport(number, options).write(leads, noonMs);
    const stored = [...store.leads.export(number)].flat();
    store.close();
    expect(plan.outcomes).toEqual(outcomes);
    for (const { doc } of [...plan.added, ...plan.replaced]) expect(stored).toContain(doc);
  });
  fc.assert(isLikeAFile, { numRuns: 60 });
});
