/** Whom a lead was given to: said by find, on the receipt of an erasure, by the list of keys, and at the end of an import. */
import { expect, onTestFinished, test } from "bun:test";
import { join } from "node:path";
import { sql } from "drizzle-orm";
import { dayOf } from "../../src/contract/calendar.ts";
import { digestOf } from "../../src/contract/key.ts";
import { formatTime } from "../../src/contract/time.ts";
import { listAccounts } from "../../src/db/accounts.ts";
import { Erasure } from "../../src/privacy/erase.ts";
import { completeReceipts } from "../../src/privacy/receipts.ts";
import { applyRetention } from "../../src/privacy/retention.ts";
import { untilRecorded } from "../../src/privacy/sent/ledger.ts";
import { openServedStore } from "../../src/server/store.ts";
import { type Admin, anAdmin, type Printed } from "../support/admin.ts";
import { noonMs } from "../support/builders.ts";
import { openTestDatabase } from "../support/database.ts";
import { eventually } from "../support/eventually.ts";
import { filesWith } from "../support/folder.ts";
import { client, serve } from "../support/harness.ts";
import { onPersons } from "../support/privacy.ts";
import { start } from "../support/process.ts";
import { betweenTransactions } from "../support/write-lock.ts";

const hoursAgo = (hours: number) => formatTime(noonMs - hours * 3_600_000);
const rows = (...hours: readonly number[]) =>
  `pixel_id,email,identified_at\n${hours.map((ago) => `px,h${ago}@example.com,${hoursAgo(ago)}\n`).join("")}`;
const today = dayOf(noonMs);

/** A file with some leads and two keys, at noon. */
async function aFile() {
  const admin = anAdmin(["acme"], {}, noonMs);
  await admin.import(rows(30, 20, 10));
  const crm = (await admin.run("key", "create", "acme", "--label", "crm", "--json")).json;
  await admin.run("key", "create", "acme", "--label", "idle");
  return { admin, crm, received: { key: crm.id, first: today, last: today } };
}

/** The same after one of the keys has read a page, and the server has ended. */
async function read() {
  const file = await aFile();
  const { as, stop } = await serve({ file: file.admin.file });
  expect((await as(file.crm.key).get("/leads?limit=2")).body.data).toHaveLength(2);
  await stop();
  return file;
}

const byEmail = (hours: number) => ["--email", `h${hours}@example.com`];
const receivedBy = async (admin: Admin, hours: number): Promise<unknown> =>
  (await onPersons(admin, "find", byEmail(hours))).json["received"];

test("find prints the keys that received each lead and when", async () => {
  const { admin, received } = await read();
  const leads = await admin.leads();
  expect(await receivedBy(admin, 10)).toEqual([{ id: leads[2]?.id, label: "crm", ...received }]);
  expect(await receivedBy(admin, 30)).toEqual([]);
  const { stdout, stderr } = await admin.run("lead", "find", "acme", ...byEmail(20));
  expect(stdout.split("\n")).toEqual([
    JSON.stringify(leads[1]),
    expect.stringMatching(/^ {2}received by key crm \(lf_\w{5}…\) of acme on 2026-02-01$/),
    "",
  ]);
  expect(stderr).toContain("1 lead of this person");
  const unread = await admin.run("lead", "find", "acme", ...byEmail(30));
  expect(unread.stderr).toBe(
    "1 lead of this person in acme, and no key is known to have received it in the last 400 days.\n" +
      "Not searchable: values that are hashed, encoded in Base64, or encrypted, such as in page URLs.\n" +
      "Not searched: other accounts, exports, rejects files, inboxes, pending deliveries, logs, and backups.\n",
  );
});

test("a receipt names a key that received a page, and does so immediately after a kill of the erasure", async () => {
  const { admin, received } = await read();
  const { json } = await onPersons(admin, "erase", byEmail(20));
  expect((json["receipt"] as Printed)["received"]).toEqual([received]);
  const database = openTestDatabase(admin.file);
  const search = { withMentions: false, onRead: () => {} };
  const person = { kind: "email", value: "h10@example.com" } as const;
  for (const account of listAccounts(database.read))
    for await (const _ of new Erasure(database, account, [person], search, noonMs + 1).steps());
  database.close();
  const receipts = (await admin.run("receipt", "list", "acme")).stdout.trim().split("\n");
  expect(receipts.map((receipt) => JSON.parse(receipt).received)).toEqual([[received], [received]]);
});

test("the ledger keeps no byte of an erased person, whatever city a client requested", async () => {
  const { admin, crm } = await aFile();
  // As where the columns of a file were taken for others.
  await admin.import("pixel_id,email,city\npx,dana@example.com,dana@example.com\npx,robin@example.com,Austin\n");
  const { as, stop } = await serve({ file: admin.file });
  for (const city of ["dana@example.com", "austin"])
    expect((await as(crm.key).get(`/leads?city=${city}`)).body.data).toHaveLength(1);
  await stop();
  const { json } = await onPersons(admin, "erase", ["--email", "dana@example.com"]);
  expect((json["receipt"] as Printed)["received"]).toMatchObject([{ key: crm.id }]);
  expect(filesWith(admin.folder, "dana@example.com")).toEqual([]);
  const robin = await onPersons(admin, "find", ["--email", "robin@example.com"]);
  expect(robin.json["received"]).toMatchObject([{ key: crm.id }]);
});

test("key list shows how far each key has read", async () => {
  const { admin } = await read();
  const keysOf = async () => JSON.parse((await admin.run("key", "list", "acme", "--json")).stdout);
  const [, , newest] = await admin.leads();
  expect(await keysOf()).toMatchObject([{ read_up_to: newest?.identified_at }, { read_up_to: null }]);
  expect((await admin.run("key", "list", "acme")).stdout).toContain("READ UP TO");
});

test("a response is in the ledger one second later, even after a kill and a restore, and on a receipt at once", async () => {
  const { admin, crm } = await aFile();
  const server = start({ DATABASE_PATH: admin.file }, admin.folder);
  const api = client(await server.listening(), { Authorization: `Bearer ${crm.key}` });
  await api.get("/leads?limit=1");
  const backup = join(admin.folder, "before.db");
  await admin.run("backup", backup);
  await eventually(async () => expect(await receivedBy(admin, 10)).toHaveLength(1));
  await api.get("/leads");
  const { json } = await onPersons(admin, "erase", byEmail(30));
  expect((json["receipt"] as Printed)["received"]).toMatchObject([{ key: crm.id }]);
  await server.end("SIGKILL");
  expect(await receivedBy(admin, 10)).toHaveLength(1);
  expect((await admin.run("restore", backup, "--yes")).status).toBe(0);
  expect(await receivedBy(admin, 10)).toHaveLength(1);
});

test("an import with late leads names the clients that missed them, and the overlap they need", async () => {
  const { admin, crm } = await read();
  const { json, stderr } = await admin.import(rows(13, 12, 5));
  expect(json).toMatchObject({ imported: 3, late: 2 });
  expect(json["passed"]).toEqual([{ key: crm.id, label: "crm", late: 2, overlap_seconds: 3 * 3600 }]);
  expect(stderr).toMatch(/Client crm missed 2 of them\. Polling with an overlap of [34] hours finds them\./);
  expect((await admin.import(rows(4, 3))).json["passed"]).toEqual([]);
});

test("an import names the clients that missed its leads after an undo or an erasure", async () => {
  const { admin, crm } = await read();
  await onPersons(admin, "erase", byEmail(10));
  const missed = { late: 0, passed: [{ key: crm.id, label: "crm", late: 1, overlap_seconds: expect.any(Number) }] };
  expect((await admin.import(rows(15, 5))).json).toMatchObject(missed);
  for (const number of ["1", "2"]) await admin.run("import", "undo", "acme", number);
  expect((await admin.import(rows(16, 4))).json).toMatchObject(missed);
});

test("an import names the clients that missed its leads because of a concurrent import", async () => {
  const { admin, crm } = await read();
  const many = 6_000;
  const file = admin.put("export.csv", rows(...Array.from({ length: many }, (_, n) => 9 - n / 3_000)));
  const child = admin.start("lead", "import", "acme", file, "--create-pixels", "--json");
  let late = 0;
  for await (const { leads, writer } of betweenTransactions(admin.file, child.exited)) {
    if (leads <= 3) continue;
    late = many + 3 - leads;
    // As if another import had brought a lead, and the client had read on.
    const ms = noonMs - 3_600_000;
    writer.run(
      `INSERT INTO stored_leads (account, identified_at, uuid, pixel, has_email, import, doc)
       SELECT account, ?, x'01', pixel, 0, 1, doc FROM stored_leads LIMIT 1`,
      [ms],
    );
    writer.run("UPDATE keys SET read_up_to = ? WHERE number = 1", [ms]);
    break;
  }
  expect([await child.exited, JSON.parse(child.output())]).toMatchObject([
    0,
    { imported: many, late, passed: [{ key: crm.id, late }] },
  ]);
});

test("doctor mentions DISCLOSURES=off", async () => {
  const { stdout } = await anAdmin(["acme"], { DISCLOSURES: "off" }).run("doctor");
  expect(stdout).toContain("DISCLOSURES is off");
});

/** An erasure of one person, and another lead of that person that an import adds after its first step. */
function eraseInSteps(admin: Admin) {
  const database = openTestDatabase(admin.file);
  onTestFinished(() => database.close());
  const [account] = listAccounts(database.read);
  if (account === undefined) throw new Error("the file has no account");
  const eraseOne = (value: string) =>
    new Erasure(database, account, [{ kind: "email", value }], { withMentions: false, onRead: () => {} }, noonMs);
  function addLead(): void {
    database.read.run(sql`
      INSERT INTO stored_leads SELECT number + 100, account, identified_at + 1, randomblob(16), pixel, state, city_key, has_email, import,
        replace(doc, 'h20@', 'h10@') FROM stored_leads WHERE doc LIKE '%h20@%'`);
    database.read.run(sql`UPDATE imports SET read = read + 1`);
  }
  return { database, eraseOne, addLead };
}

test("a receipt keeps its recipients if a server completes it while its erasure runs", async () => {
  const { admin, crm, received } = await read();
  const { database, eraseOne, addLead } = eraseInSteps(admin);
  const erasure = eraseOne("h10@example.com");
  const steps = erasure.steps();
  await steps.next();
  await completeReceipts(database, undefined);
  addLead();
  for await (const _ of steps);
  const [one] = await erasure.complete();
  expect(one).toMatchObject({ erased: 2 });
  expect(JSON.parse(one?.receipt ?? "")).toMatchObject({ received: [received], gaps: [] });
  expect(received.key).toBe(crm.id);
});

test("a receipt that a step of its erasure extends while a server completes it keeps what was added", async () => {
  const { admin, received } = await read();
  const { database, eraseOne, addLead } = eraseInSteps(admin);
  const erasure = eraseOne("h10@example.com");
  const steps = erasure.steps();
  await steps.next();
  addLead();
  const write: typeof database.write = async (...written) => {
    for await (const _ of steps);
    await database.write(...written);
  };
  await completeReceipts({ ...database, write }, undefined);
  const [one] = await erasure.complete();
  const receipt = JSON.parse(one?.receipt ?? "");
  expect([receipt.removed.length, receipt.received]).toEqual([2, [received]]);
});

test("the daily work leaves a receipt pending whose erasure ran while it waited for the servers", async () => {
  const { admin, crm, received } = await aFile();
  const { database, eraseOne } = eraseInSteps(admin);
  const store = openServedStore(admin.file, true, () => noonMs);
  for await (const _ of eraseOne("h30@example.com").steps());
  const daily = applyRetention(database, noonMs);
  const erasure = eraseOne("h10@example.com");
  const [[number = 0] = []] = database.read.values<[number]>(
    sql`SELECT number FROM stored_leads WHERE doc LIKE '%h10@%'`,
  );
  for await (const _ of erasure.steps());
  await daily;
  store.sent.note(store.keys.find(digestOf(crm.key))?.number ?? 0, { numbers: [number], newestMs: noonMs }, noonMs);
  store.flush();
  const [one] = await erasure.complete();
  expect(JSON.parse(one?.receipt ?? "").received).toEqual([received]);
  await store.close();
});

test("nothing counts as recorded while another program keeps the server from writing", async () => {
  const { admin, crm } = await aFile();
  const store = openServedStore(admin.file);
  const code = `import { Database } from "bun:sqlite"; const d = new Database(${JSON.stringify(admin.file)});
    d.run("BEGIN IMMEDIATE"); console.log("locked"); await Bun.sleep(2500); d.run("COMMIT"); d.close();`;
  await start({}, admin.folder, [process.execPath, "-e", code]).said(/locked/);
  store.sent.note(store.keys.find(digestOf(crm.key))?.number ?? 0, { numbers: [1], newestMs: 1 }, noonMs);
  const writing = setInterval(() => store.flush(), 20);
  await untilRecorded(admin.file);
  clearInterval(writing);
  const database = openTestDatabase(admin.file);
  expect(database.read.values(sql`SELECT count(*) FROM sent`)).toEqual([[1]]);
  database.close();
  await store.close();
});
