/** bun admin restore: what was set, revoked or undone since the backup holds on. */
import { expect, test } from "bun:test";
import { join } from "node:path";
import { anAdmin } from "../../admin.ts";
import { header, rows } from "./a-backup.ts";

test("a key that was revoked after the backup stays revoked, and retention that was set holds on", async () => {
  const admin = anAdmin();
  const { key, id } = (await admin.run("key", "create", "acme", "--json")).json;
  const file = join(admin.folder, "copy.db");
  await admin.run("backup", file);
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

test("a key that was rotated after the backup ends when it was to", async () => {
  const admin = anAdmin();
  const { id } = (await admin.run("key", "create", "acme", "--json")).json;
  const file = join(admin.folder, "copy.db");
  await admin.run("backup", file);
  const ends = (await admin.run("key", "rotate", id, "--json")).json["old_expires_at"];
  expect((await admin.run("restore", file)).status).toBe(0);
  const keys = JSON.parse((await admin.run("key", "list", "acme", "--json")).stdout);
  expect(keys).toMatchObject([{ id, state: "active", expires_at: ends }]);
});

test("a subscription is as it was set last, and keys that were made and revoked since stay revoked", async () => {
  const admin = anAdmin(["acme", "other"]);
  await admin.run("account", "deactivate", "other");
  const file = join(admin.folder, "copy.db");
  await admin.run("backup", file);
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

test("an import that was undone since the backup stays undone", async () => {
  const admin = anAdmin();
  await admin.import(header + rows(0, 7));
  await admin.import(header + rows(7, 20));
  const file = join(admin.folder, "copy.db");
  await admin.run("backup", file);
  expect((await admin.run("import", "undo", "acme", "1")).status).toBe(0);
  const { status, stderr, json } = await admin.run("restore", file, "--json");
  expect({ status, leads: json["leads"] }).toEqual({ status: 0, leads: 13 });
  expect(stderr).toContain("undone imports");
});
