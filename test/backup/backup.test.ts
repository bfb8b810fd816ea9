/** bun admin backup: a consistent copy with its manifest, made while others write, and never over anything. */
import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { createHash } from "node:crypto";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { anAdmin } from "../support/admin.ts";
import { needing, unless } from "../support/needing.ts";
import { aSmallDisk, fill } from "../support/small-disk.ts";
import { aBackup, backUp, fitManifest, header, rows } from "./restore/a-backup.ts";

const isRoot = process.getuid?.() === 0;

test("a backup prints the digest and the counts of its manifest", async () => {
  const admin = anAdmin();
  await admin.import(header + rows(0, 20));
  const file = join(admin.folder, "copy.db");
  const { status, stdout } = await admin.run("backup", file, "--json");
  const sha256 = createHash("sha256").update(readFileSync(file)).digest("hex");
  const bytes = statSync(file).size;
  expect({ status, ...JSON.parse(stdout) }).toEqual({ status: 0, file, sha256, bytes, leads: 20 });
  expect(JSON.parse(readFileSync(`${file}.manifest.json`, "utf8"))).toMatchObject({
    ...{ file: "copy.db", sha256, bytes, schema: expect.any(Number), made_at: expect.stringMatching(/^\d{4}-.*Z$/) },
    counts: { accounts: 1, pixels: 1, keys: 0, leads: 20 },
  });
  for (const made of [file, `${file}.manifest.json`]) expect(statSync(made).mode & 0o777).toBe(0o600);
  const names = readdirSync(admin.folder).filter((name) => name.startsWith("copy.db"));
  expect(names.toSorted()).toEqual(["copy.db", "copy.db.manifest.json"]);
});

test("a drill of an existing backup compares it, changes nothing, and removes its files", async () => {
  const { admin, file } = await aBackup();
  const sha256 = createHash("sha256").update(readFileSync(file)).digest("hex");
  await admin.import(header + rows(0, 30));
  // The last connection that is closed removes the WAL. A process that exits may or may not close its connection.
  const files = () => readdirSync(admin.folder).filter((name) => !/-(?:wal|shm)$/.test(name));
  const before = files().toSorted();
  expect(await admin.run("backup", "--drill", file, "--json")).toMatchObject({
    status: 0,
    json: { sha256, leads: 20 },
  });
  expect(files().toSorted()).toEqual(before);
  expect(await admin.leads()).toHaveLength(30);
});

test("a drill says what retention would leave out of a restore on this day", async () => {
  const admin = anAdmin();
  const aDayAgo = new Date(Date.now() - 86_400_000).toISOString();
  await admin.import(`date,pixel_id,email\n2020-01-31,px,a@b.c\n2020-02-01,px,b@b.c\n${aDayAgo},px,d@b.c\n`);
  const file = await backUp(admin);
  expect((await admin.run("backup", "--drill", file)).stdout).toContain("A test restore has the same content.\n");
  // The retention was set, and not applied before the backup was made.
  using database = new Database(admin.file);
  database.run("UPDATE accounts SET retain_days = 30");
  database.close();
  const other = await backUp(admin, "other.db");
  const { status, stdout, stderr } = await admin.run("backup", "--drill", other);
  expect([status, stdout]).toEqual([0, expect.stringContaining("apart from leads that retention leaves out")]);
  expect(stderr).toContain("A restore on this day would leave out 2 of 3 leads:");
});

test("a drill of a backup whose manifest promises other content fails", async () => {
  const { admin, file } = await aBackup();
  const manifest = JSON.parse(readFileSync(`${file}.manifest.json`, "utf8"));
  for (const wrong of [{ content: "0".repeat(64) }, { counts: { ...manifest.counts, keys: 3 } }]) {
    writeFileSync(`${file}.manifest.json`, JSON.stringify({ ...manifest, ...wrong }));
    const { status, stdout, stderr } = await admin.run("backup", "--drill", file);
    expect({ status, stdout }).toEqual({ status: 1, stdout: "" });
    expect(stderr).toMatch(/^The drill failed: [^\n]+\n$/);
  }
});

test("a drill of a backup that a restore would change fails", async () => {
  const { admin, file } = await aBackup();
  // As no backup is: a restore leaves a deleted account out.
  using database = new Database(file);
  database.run("INSERT INTO deleted_accounts (id, deleted_at, leads) SELECT id, 0, 20 FROM accounts");
  database.close();
  fitManifest(file);
  const { status, stderr } = await admin.run("backup", "--drill", file);
  expect([status, stderr]).toEqual([1, expect.stringMatching(/^The drill failed: [^\n]+ 20 leads differ [^\n]+\n$/)]);
});

test.each([
  ["a file that is there", "there.db", "Name another file"],
  ["a file whose manifest is there", "orphan.db", "Name another file"],
  ["a dangling link", "link.db", "Name another file"],
  ["a folder that is not there", "no/such/folder/copy.db", "no/such/folder"],
  ["a name that is too long", `${"n".repeat(250)}.db`, "nnn.db cannot be opened or written ("],
  ["the database", "leadfile.db", "belongs to the database itself"],
  ["the log of the database", "leadfile.db-wal", "belongs to the database itself"],
])("rejects %s in one line and writes nothing", async (_, name, says) => {
  const admin = anAdmin();
  admin.put("there.db", "precious");
  admin.put("orphan.db.manifest.json", "precious");
  symlinkSync("gone.db", join(admin.folder, "link.db"));
  const { status, stdout, stderr } = await admin.run("backup", join(admin.folder, name));
  expect({ status, stdout }).toEqual({ status: 1, stdout: "" });
  expect(stderr).toMatch(/^[^\n]{20,}\n$/);
  expect(stderr).toContain(says);
  const others = readdirSync(admin.folder).filter((name) => !/^(?:\.bun|leadfile\.db.*)$/.test(name));
  expect(others.toSorted()).toEqual(["link.db", "orphan.db.manifest.json", "there.db"]);
  expect(readFileSync(join(admin.folder, "there.db"), "utf8")).toBe("precious");
});

unless(isRoot ? "root may write everywhere" : null)("rejects a folder that this user cannot write to", async () => {
  const admin = anAdmin();
  mkdirSync(join(admin.folder, "closed"));
  chmodSync(join(admin.folder, "closed"), 0o500);
  expect((await admin.run("backup", join(admin.folder, "closed/copy.db"))).status).toBe(1);
});

needing("mount")("reports a full disk in one line and leaves no part of a backup on it", async () => {
  const admin = anAdmin();
  await admin.import(header + rows(0, 5000));
  using disk = aSmallDisk(admin.folder, "size=256k");
  const { status, stdout, stderr } = await admin.run("backup", join(disk.path, "copy.db"));
  expect({ status, stdout }).toEqual({ status: 1, stdout: "" });
  expect(stderr).toMatch(/^The disk of [^\n]+ is full[^\n]+\n$/);
  expect(readdirSync(disk.path)).toEqual([]);
  expect(await admin.leads()).toHaveLength(5000);
  expect(existsSync(disk.path)).toBe(true);
});

needing("mount")("a drill on a full disk says so, and nothing against the backup", async () => {
  const admin = anAdmin();
  using disk = aSmallDisk(admin.folder, "size=9m");
  await admin.run("backup", join(disk.path, "copy.db"));
  fill(disk.path);
  const { status, stderr } = await admin.run("backup", "--drill", join(disk.path, "copy.db"));
  expect([status, stderr]).toEqual([1, expect.stringMatching(/^The disk of [^\n]+ is full\. [^\n]+\n$/)]);
});

needing("mount")("a drill on a read-only disk is rejected with advice", async () => {
  const admin = anAdmin();
  using disk = aSmallDisk(admin.folder, "size=9m");
  await admin.run("backup", join(disk.path, "copy.db"));
  expect(Bun.spawnSync(["mount", "-o", "remount,ro", disk.path]).exitCode).toBe(0);
  const { status, stderr } = await admin.run("backup", "--drill", join(disk.path, "copy.db"));
  expect(status).toBe(1);
  expect(stderr).toMatch(/^The folder [^\n]+\/disk is not writable \(EROFS\)\. [^\n]+\n$/);
});
