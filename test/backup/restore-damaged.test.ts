/** bun admin restore where the file that it replaces is damaged, behind a link, or somebody else's. */
import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import {
  chownSync,
  closeSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import { type Admin, anAdmin } from "../support/admin.ts";
import { aFolder } from "../support/folder.ts";
import { needing } from "../support/needing.ts";
import { start } from "../support/process.ts";
import { backUp, kept } from "./restore/a-backup.ts";

/** Overwrites the first page of a table with what is none. */
function damage(path: string, table: string): void {
  const database = new Database(path);
  const [[page] = []] = database.query("SELECT rootpage FROM sqlite_schema WHERE name = ?").values(table);
  const [[size] = []] = database.query("PRAGMA page_size").values();
  database.run("PRAGMA wal_checkpoint(TRUNCATE)");
  database.close(true);
  const file = openSync(path, "r+");
  writeSync(file, Buffer.alloc(Number(size), 7), 0, Number(size), (Number(page) - 1) * Number(size));
  closeSync(file);
}

/** A file with a backup of itself, after which one person was erased and a key revoked. */
async function aBackup() {
  const admin = anAdmin();
  await admin.import("date,pixel_id,email\n2026-01-31,px,a@example.com\n2026-01-31,px,b@example.com\n");
  const { key, id } = (await admin.run("key", "create", "acme", "--json")).json;
  const file = await backUp(admin);
  await admin.run("lead", "erase", "acme", "--email", "a@example.com");
  await admin.run("key", "revoke", id);
  return { admin, file, key };
}

const state = async (admin: Admin, key: string) => (await admin.give(key, "key", "check", "--json")).json["state"];

test("an unreadable page of the revocations does not stop a restore, and erasures hold", async () => {
  const { admin, file, key } = await aBackup();
  damage(admin.file, "keys");
  const { status, json, stderr } = await admin.run("restore", file, "--json");
  expect({ status, ...json }).toMatchObject({ status: 0, leads: 1, erased_again: 1 });
  expect(stderr).toMatch(
    /^Warning: [^\n]*: revoked keys, expiries of keys, days of usage, the ledger of recipients\. [^\n]*\n/m,
  );
  expect(await state(admin, key)).toBe("active");
});

test("an unreadable page of the erasures is reported, and revocations hold", async () => {
  const { admin, file, key } = await aBackup();
  damage(admin.file, "suppressions");
  const { status, json, stderr } = await admin.run("restore", file, "--json");
  expect({ status, ...json }).toMatchObject({ status: 0, leads: 2, erased_again: 0 });
  expect(stderr).toMatch(/^Warning: [^\n]*: erasures\. [^\n]*--receipts[^\n]*\n/m);
  expect(await state(admin, key)).toBe("revoked");
});

test.each([
  ["is no database any more", 0],
  ["has a head that SQLite does not know", 40],
])("a file that %s is replaced and kept, and everything that is lost is named", async (_, at) => {
  const { admin, file } = await aBackup();
  const broken = openSync(admin.file, "r+");
  writeSync(broken, Buffer.alloc(400, 7), 0, 400, at);
  closeSync(broken);
  const { status, json, stderr } = await admin.run("restore", file, "--json");
  expect({ status, ...json }).toMatchObject({ status: 0, leads: 2 });
  expect(stderr).toMatch(/^Warning: [^\n]*revoked keys[^\n]*erasures[^\n]*\n/m);
  expect(readFileSync(join(admin.folder, kept(admin)[0] ?? "")).subarray(at, at + 400)).toEqual(Buffer.alloc(400, 7));
});

test("an undamaged replaced file gives no warning", async () => {
  const { admin, file } = await aBackup();
  expect((await admin.run("restore", file)).stderr).not.toContain("Warning");
});

test("a retention that ended after the backup stays ended, and that of a newer backup holds", async () => {
  const admin = anAdmin();
  await admin.run("retain", "acme", "--days", "30");
  const [limited, unlimited] = ["limited.db", "unlimited.db"].map((name) => join(admin.folder, name));
  await admin.run("backup", limited ?? "");
  await admin.run("retain", "acme", "--days", "off");
  await admin.run("backup", unlimited ?? "");
  const old = "date,email,pixel_id\n2020-01-31,a@example.com,px\n";
  expect((await admin.run("restore", limited ?? "")).status).toBe(0);
  expect((await admin.import(old)).json).toMatchObject({ imported: 1, rejected: 0 });
  expect((await admin.run("retain", "acme", "--days", "30", "--yes")).status).toBe(0);
  expect((await admin.run("restore", unlimited ?? "")).status).toBe(0);
  expect((await admin.import(old)).json).toMatchObject({ imported: 0, rejected: 1 });
});

test("a database behind a link is served, refused to a second server, and restored in its own folder", async () => {
  const { admin, file } = await aBackup();
  const link = join(aFolder(), "link.db");
  symlinkSync(admin.file, link);
  const server = start({ DATABASE_PATH: link }, admin.folder);
  await server.listening();
  const second = start({ DATABASE_PATH: admin.file }, admin.folder);
  expect(await second.exited).toBe(1);
  expect(second.errors()).toContain("Another process is serving or restoring");
  expect((await admin.run("restore", file)).status).toBe(1);
  expect(await server.end("SIGTERM")).toBe(0);
  const linked = anAdmin([], { DATABASE_PATH: link });
  expect((await linked.run("restore", file)).status).toBe(0);
  expect(readlinkSync(link)).toBe(admin.file);
});

test("follows a link whose target does not exist yet, and keeps the link", async () => {
  const { file } = await aBackup();
  const folder = aFolder();
  const link = join(folder, "link.db");
  symlinkSync("disk/leadfile.db", link);
  const linked = anAdmin([], { DATABASE_PATH: link });
  expect((await linked.run("restore", file)).status).toBe(0);
  expect(lstatSync(link).isSymbolicLink()).toBe(true);
  expect(statSync(join(folder, "disk/leadfile.db")).isFile()).toBe(true);
});

const nobody = 65_534;

needing("root")("files restored by root belong to the owner of the database", async () => {
  const { admin, file } = await aBackup();
  for (const path of [admin.folder, admin.file]) chownSync(path, nobody, nobody);
  expect((await admin.run("restore", file)).status).toBe(0);
  const files = readdirSync(admin.folder).filter((entry) => entry.startsWith("leadfile.db"));
  expect(files).toContain("leadfile.db.serving");
  for (const entry of files) expect(statSync(join(admin.folder, entry)).uid).toBe(nobody);
});

needing("root", "setpriv")(
  "who may not give files away restores into somebody else's folder all the same",
  async () => {
    const { file } = await aBackup();
    const folder = join(aFolder(), "theirs");
    mkdirSync(folder);
    chownSync(folder, nobody, nobody);
    const command = [process.execPath, join(import.meta.dir, "../../src/admin.ts"), "restore", file];
    const ended = Bun.spawnSync(["setpriv", "--bounding-set=-chown", "--inh-caps=-chown", ...command], {
      env: { PATH: process.env["PATH"] ?? "", DATABASE_PATH: join(folder, "leadfile.db") },
    });
    expect(ended.exitCode).toBe(0);
    expect(ended.stderr.toString()).toMatch(/^There is no database at [^\n]+\nNo newer data was found [^\n]+\n$/);
  },
);

needing("root")("never follows a link at the path of the lock", async () => {
  const { admin, file } = await aBackup();
  const theirs = join(aFolder(), "theirs");
  writeFileSync(theirs, "");
  rmSync(`${admin.file}.serving`, { force: true });
  symlinkSync(theirs, `${admin.file}.serving`);
  chownSync(admin.file, nobody, nobody);
  await admin.run("restore", file);
  expect(statSync(theirs).uid).toBe(0);
});
