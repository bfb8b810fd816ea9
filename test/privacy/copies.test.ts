/** Every command that erases names every copy: replaced files, upgrades, drafts, backups, and inbox folders. */
import { expect, test } from "bun:test";
import { cpSync, existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Admin, anAdmin } from "../support/admin.ts";
import { aFolder } from "../support/folder.ts";

/** A process that ended long ago, or never was. */
const deadPid = 999_999_999;

/** A file with a copy of each kind, and with what a kill left next to it and in the folder of its backups. */
async function withCopies() {
  const place = aFolder();
  const admin = anAdmin(["acme"], { BACKUP_TO: place });
  await admin.import("date,pixel_id,email\n2020-01-31,px,dana@example.com\n");
  const replaced = `${admin.file}.replaced-2026-01-31T10-00-00-000Z`;
  const before = `${admin.file}.before-migration-3`;
  for (const copy of [replaced, before]) cpSync(admin.file, copy);
  const backup = join(aFolder(), "tuesday.db");
  const gone = join(aFolder(), "gone.db");
  for (const file of [backup, gone]) expect((await admin.run("backup", file)).status).toBe(0);
  rmSync(gone);
  const inbox = aFolder();
  mkdirSync(join(inbox, "acme"));
  expect((await admin.run("inbox", inbox, "--once")).status).toBe(0);
  const drafts = [admin.folder, place].map((folder) => join(folder, `.leadfile-draft-${deadPid}-x`));
  for (const draft of drafts) {
    mkdirSync(draft);
    writeFileSync(join(draft, "leadfile.db"), "dana@example.com");
  }
  return { admin, named: [replaced, before, backup, inbox], gone, drafts };
}

const commands: readonly (readonly [string, (admin: Admin) => Promise<{ stderr: string; status: number }>])[] = [
  ["lead erase", (admin) => admin.run("lead", "erase", "acme", "--email", "dana@example.com")],
  ["retain", (admin) => admin.run("retain", "acme", "--days", "30", "--yes")],
  ["account delete", (admin) => admin.run("account", "delete", "acme", "--yes")],
];

test.each(commands)("%s names each copy, and removes the drafts of a killed process", async (_, run) => {
  const { admin, named, gone, drafts } = await withCopies();
  const { status, stderr } = await run(admin);
  expect(status).toBe(0);
  for (const path of named) expect(stderr).toContain(`: ${path}\n`);
  expect(stderr).not.toContain(gone);
  expect(drafts.filter(existsSync)).toEqual([]);
});

test("an inbox folder is recorded once, and is named when INBOX is another one", async () => {
  const admin = anAdmin();
  const inbox = aFolder();
  for (let times = 0; times < 2; times++) await admin.run("inbox", inbox, "--once");
  const acts: { act: string; detail: object }[] = JSON.parse((await admin.run("audit", "list", "--json")).stdout);
  expect(acts.filter(({ act }) => act === "inbox.use").map(({ detail }) => detail)).toEqual([{ folder: inbox }]);
  const other = anAdmin([], { DATABASE_PATH: admin.file, INBOX: aFolder() });
  expect((await other.run("lead", "erase", "acme", "--email", "x@example.com")).stderr).toContain(`: ${inbox}\n`);
});
