/** bun admin restore: what was set, revoked, or undone since the backup is kept. */
import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { join } from "node:path";
import { dayMs } from "../../../src/contract/calendar.ts";
import { anAdmin } from "../../support/admin.ts";
import { backUp, header, rows } from "./a-backup.ts";

const daysAgo = (days: number) => new Date(Date.now() - days * dayMs);

test("a key that was revoked after the backup stays revoked, and a retention that was set stays", async () => {
  const admin = anAdmin();
  const { key, id } = (await admin.run("key", "create", "acme", "--json")).json;
  const file = await backUp(admin);
  await admin.run("key", "revoke", id);
  await admin.run("retain", "acme", "--days", "30");
  expect((await admin.run("restore", file)).status).toBe(0);
  expect((await admin.give(key, "key", "check", "--json")).json).toMatchObject({ state: "revoked" });
  expect((await admin.import("date,email,pixel_id\n2020-01-31,a@example.com,px\n")).json).toMatchObject({
    rejected: 1,
  });
  const acts: { act: string }[] = JSON.parse((await admin.run("audit", "list", "--json")).stdout);
  expect(acts.map(({ act }) => act)).toEqual(["restore", "retain.set", "key.revoke", "backup", "key.create"]);
});

test("a restore keeps requests counted since the backup and those that only the backup has", async () => {
  const admin = anAdmin(["acme"], {}, Date.parse("2026-05-20T09:15:00Z"));
  const { id } = (await admin.run("key", "create", "acme", "--json")).json;
  const file = join(admin.folder, "copy.db");
  const count = (day: string, requests: number) => {
    using database = new Database(admin.file);
    // The thread of the backup may still be closing the file.
    database.run("PRAGMA busy_timeout = 5000");
    database.run("INSERT OR REPLACE INTO usage (key, day, requests) VALUES (1, ?, ?)", [`2026-05-${day}`, requests]);
  };
  count("01", 5);
  count("02", 7);
  await admin.run("backup", file);
  count("01", 3);
  count("02", 10);
  count("03", 20);
  const { stderr } = await admin.run("restore", file);
  expect(stderr).toContain("days of usage (2)");
  const keys = JSON.parse((await admin.run("key", "list", "acme", "--json")).stdout);
  expect(keys).toMatchObject([{ id, requests_this_month: 5 + 10 + 20 }]);
});

test("a key rotated after the backup expires when the rotation said", async () => {
  const admin = anAdmin();
  const { id } = (await admin.run("key", "create", "acme", "--json")).json;
  const file = await backUp(admin);
  const ends = (await admin.run("key", "rotate", id, "--json")).json["old_expires_at"];
  expect((await admin.run("restore", file)).status).toBe(0);
  const keys = JSON.parse((await admin.run("key", "list", "acme", "--json")).stdout);
  expect(keys).toMatchObject([{ id, state: "active", expires_at: ends }]);
});

test("the subscription stays as last set, and keys created and revoked after the backup stay revoked", async () => {
  const admin = anAdmin(["acme", "other"]);
  await admin.run("account", "deactivate", "other");
  const file = await backUp(admin);
  await admin.run("account", "deactivate", "acme");
  await admin.run("account", "activate", "other");
  const made = [];
  for (const label of ["revoked", "live"])
    made.push((await admin.run("key", "create", "acme", "--label", label, "--json")).json);
  const [revoked, live] = made;
  await admin.run("key", "revoke", revoked?.id ?? "");
  const { status, stderr } = await admin.run("restore", file);
  expect(status).toBe(0);
  expect(stderr).toMatch(/revoked keys \(1\), subscriptions \(2\)[^\n]*\n/);
  const accounts = JSON.parse((await admin.run("account", "list", "--json")).stdout);
  expect(accounts).toMatchObject([{ subscription: "inactive" }, { subscription: "active" }]);
  const states = [];
  for (const key of [revoked?.key, live?.key])
    states.push((await admin.give(key ?? "", "key", "check", "--json")).json["state"]);
  expect(states).toEqual(["revoked", "unknown"]);
});

test("an import undone after the backup stays undone", async () => {
  const admin = anAdmin();
  await admin.import(header + rows(0, 7));
  await admin.import(header + rows(7, 20));
  const file = await backUp(admin);
  expect((await admin.run("import", "undo", "acme", "1")).status).toBe(0);
  const { status, stderr, json } = await admin.run("restore", file, "--json");
  expect({ status, leads: json["leads"] }).toEqual({ status: 0, leads: 13 });
  expect(stderr).toContain("undone imports (1)");
});

test("imports since the backup are listed as undone, and the recipients of their leads are known when they are imported again", async () => {
  const admin = anAdmin();
  const { id } = (await admin.run("key", "create", "acme", "--json")).json;
  const file = await backUp(admin);
  await admin.import(header + rows(0, 3));
  const day = daysAgo(2).toISOString().slice(0, 10);
  using database = new Database(admin.file);
  database.run("UPDATE imports SET at = ?1, finished_at = ?1", [daysAgo(3).getTime()]);
  database.run("INSERT INTO disclosures (key, day, filter, oldest, newest) VALUES (1, ?, '', 0, ?)", [day, Date.now()]);
  database.close();
  expect((await admin.run("restore", file)).stderr).toContain("the record of imports (1)");
  expect((await admin.run("import", "list", "acme", "--json")).stdout).toContain('"state":"undone"');
  expect((await admin.import(header + rows(0, 3))).json).toMatchObject({ import: 2, imported: 3 });
  const { received } = (await admin.run("lead", "find", "acme", "--email", "d1@example.com", "--json")).json;
  expect(received).toMatchObject([{ key: id, first: day, last: day, possibly: true }]);
});

test("the recipients of leads that an import added during a backup are known when they are imported again", async () => {
  const admin = anAdmin();
  const { id } = (await admin.run("key", "create", "acme", "--json")).json;
  using database = new Database(admin.file);
  await admin.import(header + rows(0, 3));
  database.run("UPDATE imports SET at = ?, finished_at = NULL", [daysAgo(3).getTime()]);
  const file = await backUp(admin);
  // It goes on.
  await admin.import(header + rows(3, 6));
  database.run("UPDATE imports SET finished_at = at, newest = (SELECT newest FROM imports WHERE number = 2)");
  database.run("DELETE FROM imports WHERE number = 2");
  const day = daysAgo(2).toISOString().slice(0, 10);
  database.run("INSERT INTO disclosures (key, day, filter, oldest, newest) VALUES (1, ?, '', 0, ?)", [day, Date.now()]);
  database.close();
  expect((await admin.run("restore", file)).status).toBe(0);
  expect((await admin.import(header + rows(0, 6))).json).toMatchObject({ duplicates: 3, imported: 3 });
  const { received } = (await admin.run("lead", "find", "acme", "--email", "d4@example.com", "--json")).json;
  expect(received).toMatchObject([{ key: id, first: day, last: day, possibly: true }]);
});

test("a running import keeps the newer of two positions after a restore", async () => {
  const admin = anAdmin();
  const [older = "", newer = ""] = ["older.db", "newer.db"].map((name) => join(admin.folder, name));
  await admin.import(header + rows(0, 3));
  using database = new Database(admin.file);
  const reached = () => database.query("SELECT oldest, newest FROM imports").values();
  database.run("UPDATE imports SET finished_at = NULL, oldest = 2000, newest = 3000");
  await admin.run("backup", older);
  database.run("UPDATE imports SET oldest = 1000, newest = 4000");
  await admin.run("backup", newer);
  const machine = anAdmin([]);
  for (const file of [older, newer]) expect((await machine.run("restore", file)).status).toBe(0);
  using restored = new Database(machine.file);
  expect(restored.query("SELECT oldest, newest FROM imports").values()).toEqual(reached());
});

test("a backup restores the leads of an import, even after an older backup was restored", async () => {
  const admin = anAdmin();
  const [older = "", newer = ""] = ["older.db", "newer.db"].map((name) => join(admin.folder, name));
  await admin.import(header + rows(0, 5));
  await admin.run("backup", older);
  await admin.import(header + rows(5, 20));
  await admin.run("backup", newer);
  expect((await admin.run("restore", older, "--json")).json["leads"]).toBe(5);
  const { json, stderr } = await admin.run("restore", newer, "--json");
  expect({ leads: json["leads"], stderr }).toEqual({
    leads: 20,
    stderr: expect.not.stringContaining("undone imports"),
  });
  expect((await admin.run("import", "list", "acme", "--json")).stdout).not.toContain(`"state":"undone"`);
});

test("a replaced file older than the backup restores neither a subscription nor a later expiry of a key", async () => {
  const admin = anAdmin(["acme", "other"]);
  const { id } = (await admin.run("key", "create", "acme", "--expires", "2099-01-31", "--json")).json;
  await admin.run("account", "deactivate", "other");
  const [older = "", newer = ""] = ["older.db", "newer.db"].map((name) => join(admin.folder, name));
  await admin.run("backup", older);
  await admin.run("key", "rotate", id, "--overlap", "1h");
  await admin.run("account", "deactivate", "acme");
  await admin.run("account", "activate", "other");
  await admin.run("backup", newer);
  const machine = anAdmin([]);
  expect((await machine.run("restore", older)).status).toBe(0);
  expect((await machine.run("restore", newer)).stderr).not.toMatch(/subscriptions|expiries/);
  const accounts = JSON.parse((await machine.run("account", "list", "--json")).stdout);
  expect(accounts).toMatchObject([{ subscription: "inactive" }, { subscription: "active" }]);
  const [old]: { id: string; expires_at: string }[] = JSON.parse(
    (await machine.run("key", "list", "acme", "--json")).stdout,
  );
  expect(old).toMatchObject({ id, expires_at: expect.not.stringContaining("2099") });
});

test("the last retention set applies, even if a wrong clock dated an earlier one later", async () => {
  const now = Date.parse("2026-05-20T09:15:00Z");
  const admin = anAdmin(["acme"], {}, now);
  const file = await backUp(admin);
  const wrong = anAdmin([], { DATABASE_PATH: admin.file }, Date.parse("2036-05-20T09:15:00Z"));
  await wrong.run("retain", "acme", "--days", "30");
  await admin.run("retain", "acme", "--days", "365");
  expect((await admin.run("restore", file)).status).toBe(0);
  expect((await admin.run("account", "list", "--json")).stdout).toContain('"retain_days":365');
});

test("of the accounts created after the backup, only those with an erasure or a revoked key stay", async () => {
  const admin = anAdmin();
  const file = await backUp(admin);
  for (const name of ["birch", "cedar", "dill"]) await admin.run("account", "create", name);
  await admin.run("lead", "erase", "birch", "--email", "d1@example.com");
  const { id, key } = (await admin.run("key", "create", "cedar", "--json")).json;
  await admin.run("key", "revoke", id);
  const { status, stderr } = await admin.run("restore", file);
  expect(status).toBe(0);
  expect(stderr).toMatch(/revoked keys \(1\), erasures \(2\)/);
  const accounts: { name: string }[] = JSON.parse((await admin.run("account", "list", "--json")).stdout);
  expect(accounts.map(({ name }) => name)).toEqual(["acme", "cedar", "birch"]);
  expect((await admin.give(key, "key", "check", "--json")).json).toMatchObject({ state: "revoked" });
  const again = await admin.give(header + rows(1, 2), "lead", "import", "birch", "-", "--json", "--create-pixels");
  expect(again.json).toMatchObject({ imported: 0, suppressed: 1 });
});
