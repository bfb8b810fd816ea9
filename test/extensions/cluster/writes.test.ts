/** The writes to a cluster: the plans of an import, whose outcome is that for a file, the counts of requests, and their chain. */
import { Database } from "bun:sqlite";
import { expect, onTestFinished, test } from "bun:test";
import { join } from "node:path";
import { sql } from "drizzle-orm";
import fc from "fast-check";
import { createFlush } from "../../../extensions/cluster/flush.ts";
import { openPlan } from "../../../extensions/cluster/import.ts";
import { textAndValues } from "../../../extensions/cluster/node.ts";
import { openNodeFile } from "../../../extensions/cluster/node-file.ts";
import {
  incrementRevision,
  tableStatements,
  transactionId,
  transactionOf,
} from "../../../extensions/cluster/transactions.ts";
import type { Statement } from "../../../src/db/connection.ts";
import { createOutbox } from "../../../src/privacy/sent/outbox.ts";
import { anAdmin } from "../../support/admin.ts";
import { aLead, newLead, noonMs } from "../../support/builders.ts";
import { anAccount, documentsOf, importLeads, openTestDatabase, writeLeads } from "../../support/database.ts";
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
  const placed = { at: 1, importNumber: 1, pixel: 1, doc: "{}" };
  destination.leads.insert(added, placed);
  destination.leads.replace(replaced, placed);
  const steps = statements()
    .map(textAndValues)
    .flatMap(([text, values]) =>
      database.query<{ detail: string }, [string]>(`EXPLAIN QUERY PLAN ${text}`).all(values),
    );
  const details = steps.map(({ detail }) => detail);
  expect(details.filter((detail) => /^SCAN (?!json_each|CONSTANT|lead_numbers)|\(account=\?\)/.test(detail))).toEqual(
    [],
  );
});

/** A transaction that adds a lead to an account. */
const aLeadOf = (account: number, at: number) => [
  sql`INSERT INTO stored_leads (account, identified_at, uuid, pixel, has_email, import, doc)
    VALUES (${account}, ${at}, randomblob(16), 1, 0, 0, '{}')`,
];

test.each([
  ["what every node has to show, such as an erasure,", [incrementRevision], false],
  ["a newer lead of the account", aLeadOf(1, 2_000), false],
  ["an older lead of the account", aLeadOf(1, 500), true],
  ["a lead of another account", aLeadOf(2, 2_000), true],
  ["anything else", [], true],
])("a plan since which %s was written is refused, unless it cannot depend on that", (_, since, isAccepted) => {
  const { database, opened } = aNodeFile();
  const write = (statements: readonly Statement[]) =>
    database.transaction(() => run(database, transactionOf(transactionId(), statements)))();
  write(aLeadOf(1, 1_000));
  const { statements } = openPlan(opened.current(), 1, 2);
  write(since);
  const writePlan = () => write(statements());
  if (isAccepted) expect(writePlan).not.toThrow();
  else expect(writePlan).toThrow("NOT NULL");
});

test("a plan that replaces a lead does not store it again after others have deleted it", () => {
  const { database, opened } = aNodeFile();
  const lead = newLead(aLead());
  const { destination, statements } = openPlan(opened.current(), 1, noonMs);
  destination.leads.replace(lead, { at: 1, importNumber: 1, pixel: 1, doc: "{}" });
  run(database, transactionOf(transactionId(), statements()));
  expect(database.query("SELECT * FROM stored_leads").all()).toEqual([]);
});

/** A server that sends its counts as the test says, to a file that shows what it says. */
function aFlush(
  apply: (id: string, statements: readonly Statement[]) => Promise<void>,
  isShown: () => boolean,
  countsInFile = () => [] as { day: string; requests: number }[],
) {
  const counted = createOutbox({ between: countsInFile });
  const { opened } = aNodeFile();
  const { connection: read } = opened.current();
  const flush = createFlush("n1", counted, { apply, isShown, read }, () => noonMs);
  flush.begin();
  return { counted, flush };
}

test("a request is counted once, even if the file shows its count while the counts are read", () => {
  let [isSent, isShown] = [false, false];
  const apply = () => {
    isSent = true;
    return new Promise<void>(() => {});
  };
  const countsInFile = () => {
    // The file has come to show the counts since it was asked for them.
    isShown = isSent;
    return isShown ? [{ day: "2026-02-01", requests: 3 }] : [];
  };
  const { counted, flush } = aFlush(apply, () => isShown, countsInFile);
  for (let request = 0; request < 3; request++) counted.count(1, noonMs);
  void flush.send();
  expect(flush.of(1, noonMs)).toEqual({ today: 3, month: 3 });
});

test("a flush sends what was pending when it began in one transaction, although requests go on", async () => {
  let sent = 0;
  const apply = async () => {
    counted.count(1, noonMs);
    sent++;
  };
  const { counted, flush } = aFlush(apply, () => sent > 0);
  for (const key of [1, 2]) counted.count(key, noonMs);
  await flush.send();
  expect(sent).toBe(1);
  // A request that came in between is pending, and counted.
  expect(flush.of(1, noonMs).today).toBe(1);
});

test("a flush that is sent again after a day in which its node was cut off is applied once", async () => {
  const { database } = aNodeFile();
  const sent: ReturnType<typeof transactionOf>[] = [];
  const apply = async (id: string, statements: readonly Statement[]) => void sent.push(transactionOf(id, statements));
  const { counted, flush } = aFlush(apply, () => false);
  counted.count(1, noonMs);
  for (const _ of ["its answer is lost", "again"]) await flush.send();
  const [first = [], again = []] = sent;
  run(database, first);
  database.run("INSERT INTO cluster_writes (number, id, chain) VALUES (1000000, 'of a day', 1)");
  run(database, transactionOf(transactionId(), []));
  expect(() => run(database, again)).toThrow("UNIQUE constraint failed: cluster_writes.id");
});

test("any missing transaction changes the chain of all later ones", () => {
  const lastChainOf = (ids: readonly string[]) => {
    using file = new Database(":memory:");
    for (const statement of tableStatements) file.run(statement);
    for (const id of ids) run(file, transactionOf(id, []));
    return file.query("SELECT chain FROM cluster_writes ORDER BY number DESC LIMIT 1").get();
  };
  const isChanged = fc.property(fc.array(fc.uuid(), { minLength: 2, maxLength: 30 }), fc.nat(), (ids, place) => {
    const missing = place % (ids.length - 1);
    expect(lastChainOf(ids.filter((_, at) => at !== missing))).not.toEqual(lastChainOf(ids));
  });
  fc.assert(isChanged, { numRuns: 50 });
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
    const database = openTestDatabase(path);
    for (const statement of tableStatements) database.read.run(statement);
    using file = openNodeFile(path);
    const { number } = anAccount(database, { pixels: [{ id: "px_site", status: "active" }] });
    importLeads(database, number, before, { ...options, createPixels: false });
    const { destination, statements } = openPlan(file.current(), number, noonMs);
    const planned = writeLeads(destination, leads, { ...options, nowMs: noonMs });
    const stored = () => documentsOf(database, number);
    const client = database.read.$client;
    client.run("BEGIN");
    run(client, transactionOf(transactionId(), statements()));
    const storedByPlan = stored();
    client.run("ROLLBACK");
    const outcomes = importLeads(database, number, leads, options);
    expect(planned).toEqual(outcomes);
    expect(storedByPlan).toEqual(stored());
    database.close();
  });
  fc.assert(isLikeAFile, { numRuns: 60 });
});
