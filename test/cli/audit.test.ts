/** bun admin audit list: it records what was done, and not to whom. */
import { expect, test } from "bun:test";
import { join } from "node:path";
import { anAdmin } from "../support/admin.ts";
import { onTerminal, plain } from "../support/terminal.ts";

const email = "dana.whitfield@example.com";

test("every find, erasure, export, retention, backup, and change of a key is recorded without personal data", async () => {
  const admin = anAdmin(["acme", "other"]);
  await admin.import(`email,phone,pixel_id\n${email},15550142111,px\n`);
  const { id } = (await admin.run("key", "create", "acme", "--json", "--label", "poller")).json;
  const copy = join(admin.folder, "copy.db");
  for (const line of [
    ...[`key rotate ${id} --overlap 1h`, `key revoke ${id}`],
    ...[`lead find acme --email ${email}`, "lead find other --phone 15550142111", "lead export acme"],
    ...[`lead erase acme --email ${email}`, "retain acme --days 90", `backup ${copy}`],
  ])
    await admin.run(...line.split(" "));

  const { stdout } = await admin.run("audit", "list", "--json");
  const acts: Record<string, unknown>[] = JSON.parse(stdout);
  const ofKeys = ["key.revoke", "key.expire", "key.create", "key.create"];
  const ofLeads = ["lead.erase", "lead.export", "lead.find", "lead.find"];
  expect(acts.map((act) => act["act"])).toEqual(["backup", "retain.set", ...ofLeads, ...ofKeys]);
  expect(acts[2]).toEqual({
    at: expect.stringMatching(/^\d{4}-.*Z$/),
    act: "lead.erase",
    account: expect.stringMatching(/^acc_/),
    detail: { by: "email", erased: 1 },
  });
  for (const person of ["dana", "15550142111", "poller"]) expect(stdout.toLowerCase()).not.toContain(person);

  const only = JSON.parse((await admin.run("audit", "list", "--account", "other", "--json")).stdout);
  expect(only).toHaveLength(1);
  expect(JSON.parse((await admin.run("audit", "list", "--limit", "2", "--json")).stdout)).toHaveLength(2);
  const table = (await admin.run("audit", "list", "--limit", "1")).stdout;
  expect(table).toMatch(
    /^AT +ACT +ACCOUNT +DETAIL\n\d{4}-\d\d-\d\d \d\d:\d\d:\d\d +backup +file \S+copy\.db, sha256 \w+, leads 0\n$/,
  );
  const terminal = onTerminal(admin.file, ["audit", "list"]);
  await terminal.ended;
  // On 80 columns, too, the IDs of keys are complete.
  expect(plain(terminal.shown()).match(new RegExp(`\\b${id}\\b`, "g"))?.length).toBeGreaterThan(1);
});

test.each(["0", "x", "100001"])("--limit %s is a usage error", async (limit) => {
  expect((await anAdmin().run("audit", "list", "--limit", limit)).status).toBe(2);
});

test("a rejected command is not recorded", async () => {
  const admin = anAdmin();
  for (const line of ["key revoke key_nobodys", "lead find acme --email none", `restore ${admin.folder}/none`])
    expect((await admin.run(...line.split(" "))).status).toBeGreaterThan(0);
  expect((await admin.run("audit", "list", "--json")).stdout).toBe("[]\n");
});
