/** bun admin restore: the backup becomes the database, and the replaced file is kept. */
import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { copyFileSync, existsSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { makeBackup } from "../../../src/backup/backup.ts";
import { openBackups } from "../../../src/backup/restore.ts";
import { anAdmin } from "../../support/admin.ts";
import { filesWith } from "../../support/folder.ts";
import { aBackup, backUp, header, kept, rows } from "./a-backup.ts";

test("the backup becomes the database, and the replaced file is kept next to it", async () => {
  const { admin, file } = await aBackup();
  const before = await admin.leads();
  await admin.import(header + rows(20, 30));
  const { status, stdout, stderr } = await admin.run("restore", file, "--json");
  const lost = { leads: 10, imports: 1, keys: 0, accounts: 0 };
  expect({ status, ...JSON.parse(stdout) }).toEqual({ status: 0, leads: 20, erased_again: 0, retained_out: 0, lost });
  expect(await admin.leads()).toEqual(before);
  const [old = ""] = kept(admin);
  expect(old).toMatch(/^leadfile\.db\.replaced-\d{4}-\d\d-\d\dT/);
  expect(stderr).toContain(old);
  for (const name of [old, "leadfile.db"]) expect(statSync(join(admin.folder, name)).mode & 0o777).toBe(0o600);
  using replaced = new Database(join(admin.folder, old));
  expect(replaced.query("SELECT count(*) FROM stored_leads").values()).toEqual([[30]]);
});

const neverStopped = new AbortController().signal;

test("a finished backup leaves the database closed", async () => {
  const { file, folder } = anAdmin();
  await makeBackup(file, join(folder, "copy.db"), Date.now(), neverStopped);
  using database = new Database(file);
  // Only one that is alone may do without the log.
  expect(database.query("PRAGMA journal_mode = DELETE").values()).toEqual([["delete"]]);
});

test("the replaced file can be opened as soon as the restore is done", async () => {
  const { admin, file } = await aBackup();
  const path = join(admin.folder, "leadfile.db");
  const request = { named: file, identity: null, store: null, receipts: null, nowMs: Date.now(), dryRun: false };
  await openBackups(path).restore(request, neverStopped, () => {});
  using replaced = new Database(join(admin.folder, kept(admin)[0] ?? ""));
  expect(replaced.query("SELECT count(*) FROM stored_leads").values()).toEqual([[20]]);
});

test("a new machine gets everything back from the backup and its manifest, including keys", async () => {
  const { admin, file } = await aBackup();
  const { key } = (await admin.run("key", "create", "acme", "--json")).json;
  await backUp(admin, "later.db");
  const other = anAdmin([]);
  for (const name of ["later.db", "later.db.manifest.json"])
    copyFileSync(join(admin.folder, name), join(other.folder, name));
  // What a file that was deleted has left behind would be served with the new one.
  for (const suffix of ["-wal", "-shm"]) writeFileSync(other.file + suffix, "stale");
  expect(await other.run("restore", join(other.folder, "later.db"))).toMatchObject({ status: 0 });
  expect(filesWith(other.folder, "stale")).toEqual([]);
  expect(await other.leads()).toEqual(await admin.leads());
  expect((await other.give(key, "key", "check")).status).toBe(0);
  expect(existsSync(file)).toBe(true);
});
