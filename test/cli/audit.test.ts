/** bun admin audit list: what was done is on record, and who it was done to is not. */
import { expect, test } from "bun:test";
import { join } from "node:path";
import { anAdmin } from "../support/admin.ts";
import { onTerminal, plain } from "../support/terminal.ts";

interface Act {
  readonly at: string;
  readonly act: string;
  readonly account: string | null;
  readonly detail: Record<string, unknown>;
}

const email = "dana.whitfield@example.com";

async function aFileWithActs() {
  const admin = anAdmin(["acme", "other"]);
  await admin.import(`email,phone,pixel_id\n${email},15550142111,px\n`);
  const { id } = (await admin.run("key", "create", "acme", "--json", "--label", "poller")).json;
  await admin.run("key", "rotate", id, "--overlap", "1h");
  await admin.run("key", "revoke", id);
  await admin.run("lead", "find", "acme", "--email", email);
  await admin.run("lead", "find", "other", "--phone", "15550142111");
  await admin.run("lead", "export", "acme");
  await admin.run("lead", "erase", "acme", "--email", email);
  await admin.run("retain", "acme", "--days", "90");
  await admin.run("backup", join(admin.folder, "copy.db"));
  return admin;
}

test("every find, erase, export, retention, backup and act on a key is on record, newest first, with nothing of a person", async () => {
  const admin = await aFileWithActs();
  const { status, stdout } = await admin.run("audit", "list", "--json");
  const acts: Act[] = JSON.parse(stdout);
  expect(status).toBe(0);
  expect(acts.map(({ act }) => act)).toEqual([
    "backup",
    "retain.set",
    "lead.erase",
    "lead.export",
    "lead.find",
    "lead.find",
    "key.revoke",
    "key.expire",
    "key.create",
    "key.create",
  ]);
  expect(acts[2]).toEqual({
    at: expect.stringMatching(/^\d{4}-.*Z$/),
    act: "lead.erase",
    account: expect.stringMatching(/^acc_/),
    detail: { by: "email", erased: 1 },
  });
  for (const person of ["dana", "15550142111", "poller"]) expect(stdout.toLowerCase()).not.toContain(person);
});

test("--account and --limit narrow it, and the table is for people", async () => {
  const admin = await aFileWithActs();
  const only = JSON.parse((await admin.run("audit", "list", "--account", "other", "--json")).stdout);
  expect(only).toHaveLength(1);
  expect(JSON.parse((await admin.run("audit", "list", "--limit", "2", "--json")).stdout)).toHaveLength(2);
  const { stdout } = await admin.run("audit", "list", "--limit", "1");
  expect(stdout).toMatch(/^AT +ACT +ACCOUNT +DETAIL\n\d{4}-\d\d-\d\d \d\d:\d\d:\d\d +backup +sha256 \w+, leads 0\n$/);
});

test("on a terminal of 80 columns the id of a key stands whole", async () => {
  const admin = anAdmin();
  const { id } = (await admin.run("key", "create", "acme", "--json")).json;
  const terminal = onTerminal(admin.file, ["audit", "list"]);
  await terminal.ended;
  expect(plain(terminal.shown())).toContain(id);
});

test.each(["0", "x", "100001"])("--limit %s is wrong use", async (limit) => {
  expect((await anAdmin().run("audit", "list", "--limit", limit)).status).toBe(2);
});

test("a refused act is not on record, and a new file has an empty list", async () => {
  const admin = anAdmin();
  await admin.run("key", "revoke", "key_nobodys");
  await admin.run("lead", "find", "acme", "--email", "none");
  await admin.run("restore", join(admin.folder, "none"));
  expect((await admin.run("audit", "list", "--json")).stdout).toBe("[]\n");
});
