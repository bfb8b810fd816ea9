/** What an import sends to all nodes: it is decided as for a file, and costs as much as the step has leads. */
import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { join } from "node:path";
import { drizzle } from "drizzle-orm/bun-sqlite";
import fc from "fast-check";
import { openPlanner } from "../../../extensions/cluster/import/plan.ts";
import { statementsOf } from "../../../extensions/cluster/import/plan-statements.ts";
import { tableStatements } from "../../../extensions/cluster/tables.ts";
import { anAdmin } from "../../support/admin.ts";
import { openAdminStore } from "../../support/admin-store.ts";
import { aLead, newLead, noonMs } from "../../support/builders.ts";
import { aFolder } from "../../support/folder.ts";

test("no statement of a step goes through the leads of the account", () => {
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
  const premises = { blocks: 0, unblockings: 0, retainDays: null, there: [crypto.randomUUID()], newestMs: 1 };
  const statements = statementsOf(
    { outcomes: [], added: [lead], replaced: [lead], premises },
    { account: 1, batch: 1, isThere: true },
  );
  expect(statements).toHaveLength(3);
  const steps = statements.flatMap(({ sql, json }) =>
    database.query<{ detail: string }, [string]>(`EXPLAIN QUERY PLAN ${sql}`).all(json),
  );
  const details = steps.map(({ detail }) => detail);
  const reads = details.filter((detail) => /\b(lead|stored_leads)\b/.test(detail));
  // One that is still there and one to replace, both by their ids; and the newest by the index of times.
  expect(reads).toContain("SEARCH lead USING COVERING INDEX leads_by_uuid (account=? AND uuid=?)");
  expect(reads).toContain("SEARCH lead USING INDEX leads_by_uuid (account=? AND uuid=?)");
  expect(reads).toContain("SEARCH stored_leads USING INTEGER PRIMARY KEY (rowid=?)");
  const whole = reads.filter((detail) => /^SCAN|\(account=\?\)/.test(detail));
  expect(whole.filter((detail) => !detail.includes("leads_by_time"))).toEqual([]);
});

test("a plan relies on the rules from before its first lead, whatever is changed while it is made", () => {
  const { file } = anAdmin(["acme"]);
  using client = new Database(file);
  const planner = openPlanner(drizzle({ client }), 1, { onDuplicate: "skip", createPixels: false, dryRun: false });
  const lead = {
    ...{ id: crypto.randomUUID(), pixelId: "px", state: null, cityKey: null, hasEmail: false, document: "{}" },
    clamped: false,
    aliases: [],
    get identifiedMs() {
      client.run("UPDATE accounts SET retain_days = 1");
      client.run("INSERT OR IGNORE INTO suppressed_digests (account, digest, erased_at) VALUES (1, x'01', 1)");
      client.run("INSERT INTO audit (at, act, detail) VALUES (1, 'lead.unblock', '{}')");
      return 1;
    },
  };
  client.run("INSERT INTO pixels (account, id, status, created_at) VALUES (1, 'px', 'active', 1)");
  const plan = planner.plan([lead], { batch: 1, nowMs: 2, stampMs: 2 });
  expect(plan).toMatchObject({ premises: { blocks: 0, unblockings: 0, retainDays: null } });
});

test("a plan does not go in once a block was lifted, though as many are there as before", () => {
  const { file } = anAdmin(["acme"]);
  using client = new Database(file);
  for (const statement of tableStatements) client.run(statement);
  const block = (digest: string) =>
    client.run(`INSERT INTO suppressed_digests (account, digest, erased_at) VALUES (1, x'${digest}', 1)`);
  block("01");
  const options = { onDuplicate: "skip" as const, createPixels: false, dryRun: false };
  const plan = openPlanner(drizzle({ client }), 1, options).plan([], { batch: 1, nowMs: 2, stampMs: 2 });
  if ("pixels" in plan) throw new Error("no lead has a pixel");
  const [premises] = statementsOf(plan, { account: 1, batch: 1, isThere: false });
  const relyOn = () => client.query(premises?.sql ?? "").run(premises?.json ?? "");
  expect(relyOn).not.toThrow();
  client.run("DELETE FROM suppressed_digests");
  block("02");
  client.run("INSERT INTO audit (at, act, detail) VALUES (1, 'lead.unblock', '{}')");
  expect(relyOn).toThrow("NOT NULL");
});

const ids = Array.from({ length: 12 }, () => crypto.randomUUID());
const someLeads = fc.array(
  fc
    .record({
      id: fc.constantFrom(...ids),
      // Few moments, so that leads tie with one another and with what is there.
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

test("a plan is what becomes of the leads of a file, whatever is there already", () => {
  const how = fc.record({
    onDuplicate: fc.constantFrom("skip" as const, "replace" as const),
    createPixels: fc.boolean(),
  });
  const isLikeAFile = fc.property(someLeads, someLeads, how, (before, leads, { onDuplicate, createPixels }) => {
    const path = join(aFolder(), "leadfile.db");
    const options = { onDuplicate, createPixels, dryRun: false };
    const store = openAdminStore(path);
    using client = new Database(path);
    store.accounts.create("acme", noonMs);
    const number = 1;
    store.pixels.create(number, { id: "px_site", status: "active" }, noonMs);
    store.leads.beginImport(number, { ...options, createPixels: false }).write(before, noonMs);
    const planner = openPlanner(drizzle({ client }), number, options);
    const context = { batch: 0, nowMs: noonMs, stampMs: noonMs };
    let plan = planner.plan(leads, context);
    if ("pixels" in plan) {
      for (const id of plan.pixels) store.pixels.create(number, { id, status: "active" }, noonMs);
      plan = planner.plan(leads, context);
    }
    const outcomes = store.leads.beginImport(number, options).write(leads, noonMs);
    const stored = [...store.leads.export(number)].flat();
    store.close();
    if ("pixels" in plan) throw new Error("the pixels were made");
    expect(plan.outcomes).toEqual(outcomes);
    for (const { doc } of [...plan.added, ...plan.replaced]) expect(stored).toContain(doc);
  });
  fc.assert(isLikeAFile, { numRuns: 60 });
});
