/** Whom a lead was given to: said by find, on the receipt of an erasure, by the list of keys, and at the end of an import. */
import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { join } from "node:path";
import { sql } from "drizzle-orm";
import { dayMs, dayOf } from "../../src/contract/calendar.ts";
import { formatTime } from "../../src/contract/time.ts";
import { Erasure } from "../../src/privacy/erase.ts";
import { type Admin, anAdmin, type Printed } from "../support/admin.ts";
import { openAdminStore } from "../support/admin-store.ts";
import { betweenTransactions } from "../support/between-transactions.ts";
import { filesWith } from "../support/bytes.ts";
import { eventually } from "../support/eventually.ts";
import { client } from "../support/harness.ts";
import { type RunningProcess, start } from "../support/process.ts";

const hoursAgo = (hours: number) => formatTime(Date.now() - hours * 3_600_000);
const rows = (...hours: readonly number[]) =>
  `pixel_id,email,identified_at\n${hours.map((ago) => `px,h${ago}@example.com,${hoursAgo(ago)}\n`).join("")}`;

/** A server on a file with some leads, and two keys of which one has read a page, on a day of which it may be another one by now. */
async function read() {
  const admin = anAdmin(["acme"], {}, Date.now());
  await admin.import(rows(30, 20, 10));
  // As long as the import runs nobody knows what a page had; and midnight may come before it is read.
  using file = new Database(admin.file);
  file.run("UPDATE imports SET finished_at = at + ?", [2 * dayMs]);
  const crm = (await admin.run("key", "create", "acme", "--label", "crm", "--json")).json;
  await admin.run("key", "create", "acme", "--label", "idle");
  const server = start({ DATABASE_PATH: admin.file }, admin.folder);
  const api = client(await server.listening(), { Authorization: `Bearer ${crm.key}` });
  const before = dayOf(Date.now());
  expect((await api.get("/leads?limit=2")).body.data).toHaveLength(2);
  const day = new RegExp(`^(?:${before}|${dayOf(Date.now())})$`);
  return { admin, crm, server, day: expect.stringMatching(day) };
}

const receivedBy = async (admin: Admin, hours: number): Promise<unknown> =>
  (await admin.run("lead", "find", "acme", "--email", `h${hours}@example.com`, "--json")).json["received"];

async function stopped(server: RunningProcess): Promise<void> {
  expect(await server.end("SIGTERM")).toBe(0);
}

test("find prints the keys that received each lead and when", async () => {
  const { admin, crm, server, day } = await read();
  await stopped(server);
  const leads = await admin.leads();
  const entry = { key: crm.id, label: "crm", first: day, last: day, possibly: false };
  expect(await receivedBy(admin, 10)).toEqual([{ id: leads[2]?.id, ...entry }]);
  expect(await receivedBy(admin, 30)).toEqual([]);
  const { stdout, stderr } = await admin.run("lead", "find", "acme", "--email", "h20@example.com");
  expect(stdout.split("\n")).toEqual([
    JSON.stringify(leads[1]),
    expect.stringMatching(/^ {2}received by key crm \(lf_\w{5}…\) of acme on \d{4}-\d\d-\d\d$/),
    "",
  ]);
  expect(stderr).toContain("1 lead of this person");
  const unread = await admin.run("lead", "find", "acme", "--email", "h30@example.com");
  expect(unread.stderr).toBe(
    "1 lead of this person in acme, and no key is known to have received it in the last 400 days.\n" +
      "Not searchable: values that are hashed, encoded in Base64, or encrypted, such as in page URLs.\n" +
      "Not searched: other accounts, exports, rejects files, inboxes, pending deliveries, logs, and backups.\n",
  );
});

test.each([false, true])(
  "a receipt names a key that received a page; after a stop of the server: %p",
  async (isStopped) => {
    const { admin, crm, server, day } = await read();
    if (isStopped) await stopped(server);
    const { json } = await admin.run("lead", "erase", "acme", "--email", "h10@example.com", "--json");
    expect((json["receipt"] as Printed)["received"]).toEqual([{ key: crm.id, first: day, last: day, possibly: false }]);
  },
);

test("a receipt names the recipients immediately after a kill of the erasure", async () => {
  const { admin, crm, server, day } = await read();
  await stopped(server);
  const { database, accounts, close } = openAdminStore(admin.file);
  const persons = [{ kind: "email", value: "h10@example.com" }] as const;
  const search = { withMentions: false, onRead: () => {} };
  for (const account of accounts.list())
    for await (const _ of new Erasure(database, account, persons, search, Date.now()).steps());
  close();
  const receipt = JSON.parse((await admin.run("receipt", "list", "acme")).stdout);
  expect(receipt.received).toEqual([{ key: crm.id, first: day, last: day, possibly: false }]);
});

test("the ledger keeps no byte of an erased person, whatever city a client requested", async () => {
  const admin = anAdmin();
  // As where the columns of a file were taken for others.
  await admin.import("pixel_id,email,city\npx,dana@example.com,dana@example.com\npx,robin@example.com,Austin\n");
  const { key, id } = (await admin.run("key", "create", "acme", "--json")).json;
  const server = start({ DATABASE_PATH: admin.file }, admin.folder);
  const api = client(await server.listening(), { Authorization: `Bearer ${key}` });
  for (const city of ["dana@example.com", "austin"]) {
    expect((await api.get(`/leads?city=${city}`)).body.data).toHaveLength(1);
  }
  await stopped(server);
  const { json } = await admin.run("lead", "erase", "acme", "--email", "dana@example.com", "--json");
  expect((json["receipt"] as Printed)["received"]).toMatchObject([{ key: id }]);
  expect(filesWith(admin.folder, "dana@example.com")).toEqual([]);
  const { received } = (await admin.run("lead", "find", "acme", "--email", "robin@example.com", "--json")).json;
  expect(received).toMatchObject([{ key: id }]);
});

test("key list shows how far each key has read", async () => {
  const { admin, server } = await read();
  await stopped(server);
  const [crm, idle] = JSON.parse((await admin.run("key", "list", "acme", "--json")).stdout);
  expect(crm.read_up_to).toBe((await admin.leads())[2]?.identified_at);
  expect(idle.read_up_to).toBeNull();
  expect((await admin.run("key", "list", "acme")).stdout).toContain("READ UP TO");
});

test("the list of keys shows nothing of what a key read more than 400 days ago, which the daily pass has not deleted", async () => {
  const { admin, server } = await read();
  await stopped(server);
  using file = new Database(admin.file);
  file.run("UPDATE disclosures SET day = ?", [dayOf(Date.now() - 401 * dayMs)]);
  expect(JSON.parse((await admin.run("key", "list", "acme", "--json")).stdout)[0]).toMatchObject({ read_up_to: null });
});

test("a response is in the ledger one second later, even after a kill and a restore", async () => {
  const { admin, server } = await read();
  const backup = join(admin.folder, "before.db");
  await admin.run("backup", backup);
  await eventually(async () => expect(await receivedBy(admin, 10)).toHaveLength(1));
  await server.end("SIGKILL");
  expect(await receivedBy(admin, 10)).toHaveLength(1);
  expect((await admin.run("restore", backup)).status).toBe(0);
  expect(await receivedBy(admin, 10)).toHaveLength(1);
});

test("an import with late leads names the clients that missed them, and the overlap they need", async () => {
  const { admin, crm, server } = await read();
  await stopped(server);
  const { json, stderr } = await admin.import(rows(13, 12, 5));
  expect(json).toMatchObject({ imported: 3, late: 2 });
  expect(json["passed"]).toEqual([{ key: crm.id, label: "crm", late: 2, overlap_seconds: expect.any(Number) }]);
  const [{ overlap_seconds: overlap }] = json["passed"] as [{ overlap_seconds: number }];
  expect(overlap).toBeGreaterThanOrEqual(3 * 3600 - 60);
  expect(overlap).toBeLessThanOrEqual(3 * 3600 + 60);
  expect(stderr).toMatch(/Client crm missed 2 of them\. Polling with an overlap of [34] hours finds them\./);
  expect((await admin.import(rows(4, 3))).json["passed"]).toEqual([]);
});

test("an import names the clients that missed its leads after an undo or an erasure", async () => {
  const { admin, crm, server } = await read();
  await stopped(server);
  await admin.run("lead", "erase", "acme", "--email", "h10@example.com");
  const passedBy = async (...hours: readonly number[]) => {
    const { json } = await admin.import(rows(...hours));
    return { late: json["late"], passed: json["passed"] };
  };
  const passed = [{ key: crm.id, label: "crm", late: 1, overlap_seconds: expect.any(Number) }];
  expect(await passedBy(15, 5)).toEqual({ late: 0, passed });
  for (const number of ["1", "2"]) await admin.run("import", "undo", "acme", number);
  expect(await passedBy(16, 4)).toEqual({ late: 0, passed });
});

test("an import names the clients that missed its leads because of a concurrent import", async () => {
  const { admin, crm, server } = await read();
  await stopped(server);
  const many = 15_000;
  const file = admin.put("export.csv", rows(...Array.from({ length: many }, (_, n) => 9 - n / 7_500)));
  const child = admin.start("lead", "import", "acme", file, "--create-pixels", "--json");
  let late = 0;
  const status = await betweenTransactions(admin.file, child.exited, (leads, writer) => {
    if (late > 0 || leads <= 3) return;
    late = many + 3 - leads;
    // As if another import had brought a lead, and the client had read on.
    const ms = Date.now() - 3_600_000;
    writer.run(sql`INSERT INTO stored_leads (account, identified_at, uuid, pixel, has_email, import, doc)
      SELECT account, ${ms}, x'01', pixel, 0, 1, doc FROM stored_leads LIMIT 1`);
    writer.run(
      sql`INSERT INTO disclosures (key, day, filter, oldest, newest) VALUES (1, ${dayOf(ms)}, '', ${ms}, ${ms})`,
    );
  });
  expect([status, JSON.parse(await child.stdout.text())]).toMatchObject([
    0,
    { imported: many, late, passed: [{ key: crm.id, late }] },
  ]);
});

test("doctor mentions DISCLOSURES=off", async () => {
  const { stdout } = await anAdmin(["acme"], { DISCLOSURES: "off" }).run("doctor");
  expect(stdout).toContain("DISCLOSURES is off");
});
