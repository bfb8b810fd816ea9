/** The writes of an import to a cluster: same outcome as for a file, at a cost proportional to the step. */
import { Database } from "bun:sqlite";
import { expect, onTestFinished, test } from "bun:test";
import { join } from "node:path";
import fc from "fast-check";
import { openPlan } from "../../../extensions/cluster/import.ts";
import { textAndValues } from "../../../extensions/cluster/node.ts";
import { openNodeFile } from "../../../extensions/cluster/node-file.ts";
import { tableStatements } from "../../../extensions/cluster/tables.ts";
import { importId, independentId, transactionOf } from "../../../extensions/cluster/transaction.ts";
import { writeLeads } from "../../../src/import/write/lead-writer.ts";
import { anAdmin } from "../../support/admin.ts";
import { openAdminStore } from "../../support/admin-store.ts";
import { aLead, newLead, noonMs } from "../../support/builders.ts";
import { aFolder } from "../../support/folder.ts";

/** The file of a node, with an account that has a pixel. */
function aNodeFile() {
  const { file } = anAdmin(["acme"]);
  const database = new Database(file);
  for (const statement of tableStatements) database.run(statement);
  onTestFinished(() => database.close());
  const opened = openNodeFile(file);
  onTestFinished(opened.release);
  return { database, opened };
}

function run(database: Database, transaction: ReturnType<typeof transactionOf>): void {
  for (const [text, values] of transaction.map(textAndValues)) {
    database.query(text).run(...(text.includes("?1") ? [values] : []));
  }
}

test("no statement of a step scans the leads of the account", () => {
  const { database, opened } = aNodeFile();
  const { destination, statements } = openPlan(opened.current(), 1, noonMs);
  const [added, replaced] = [newLead(aLead()), newLead(aLead())];
  const placed = { at: 1, batch: 1, pixel: 1, doc: "{}" };
  destination.leads.insert(added, placed);
  destination.leads.replace(replaced, placed);
  const steps = statements()
    .map(textAndValues)
    .flatMap(([text, values]) =>
      database.query<{ detail: string }, [string]>(`EXPLAIN QUERY PLAN ${text}`).all(values),
    );
  const details = steps.map(({ detail }) => detail);
  // The latest transactions are found by their numbers.
  expect(details).toContain("SEARCH cluster_writes USING INTEGER PRIMARY KEY (rowid>? AND rowid<?)");
  expect(details.filter((detail) => /^SCAN (?!json_each|CONSTANT)|\(account=\?\)/.test(detail))).toEqual([]);
});

test.each([
  ["a write of any command", "written", false],
  ["an import into the same account", importId(1), false],
  ["an import into another account", importId(2), true],
  ["usage counts", independentId(), true],
])("a plan since which %s was written is refused, unless it cannot depend on that", (_, id, isAccepted) => {
  const { database, opened } = aNodeFile();
  const write = (transaction: ReturnType<typeof transactionOf>) =>
    database.transaction(() => run(database, transaction))();
  write(transactionOf("before", []));
  const { statements } = openPlan(opened.current(), 1, 2);
  write(transactionOf(id, []));
  const writePlan = () => write(transactionOf(importId(1), statements()));
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
    const { destination, statements } = openPlan(file.current(), number, noonMs);
    const planned = writeLeads(destination, leads, { ...options, nowMs: noonMs });
    const stored = () => [...store.leads.export(number)].flat();
    const client = store.database.read.$client;
    client.run("BEGIN");
    run(client, transactionOf(importId(number), statements()));
    const storedByPlan = stored();
    client.run("ROLLBACK");
    const outcomes = store.leads.beginImport(number, options).write(leads, noonMs);
    expect(planned).toEqual(outcomes);
    expect(storedByPlan).toEqual(stored());
    store.close();
  });
  fc.assert(isLikeAFile, { numRuns: 60 });
});
