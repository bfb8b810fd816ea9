/** Signals to backups, restores, and erasures: the remaining files, and the message. */
import { Database } from "bun:sqlite";
import { expect, onTestFinished, test } from "bun:test";
import { createWriteStream, readdirSync, readFileSync, renameSync } from "node:fs";
import { join } from "node:path";
import { sql } from "drizzle-orm";
import { openConnection } from "../../src/db/open.ts";
import { statusAfter } from "../../src/runtime/signals.ts";
import { type Admin, anAdmin } from "../support/admin.ts";
import { until } from "../support/eventually.ts";
import { filesWith } from "../support/folder.ts";

const rows = (count: number) =>
  `date,pixel_id,email\n${Array.from({ length: count }, (_, n) => `2026-01-31,px,d${n}@example.com\n`).join("")}`;

const filesIn = ({ folder }: Admin) =>
  readdirSync(folder)
    .filter((name) => !/^\.bun|-(?:wal|shm)$|\.serving$/.test(name))
    .toSorted();

/** Makes a file so large that it takes a while to copy it. */
function enlarge({ file }: Admin, megabytes: number): void {
  using database = new Database(file);
  database.run("CREATE TABLE others (content BLOB)");
  database.run("INSERT INTO others VALUES (zeroblob(?))", [megabytes * 1_000_000]);
}

/** Sends a signal to a command once it has created a file, and returns its status and its message. */
async function stopped(admin: Admin, signal: NodeJS.Signals, ...words: string[]): Promise<[number, string]> {
  const before = filesIn(admin).length;
  const child = admin.start(...words);
  await until(() => filesIn(admin).length > before, 1);
  return [await child.end(signal), child.errors()];
}

/** Replaces a file with a pipe that only ever gives its first half. */
function thatNeverEnds(file: string): void {
  const content = readFileSync(file);
  renameSync(file, `${file}.whole`);
  expect(Bun.spawnSync(["mkfifo", file]).exitCode).toBe(0);
  const half = createWriteStream(file);
  half.write(content.subarray(0, content.length / 2));
  onTestFinished(() => half.destroy());
}

test("a signal ends a backup with its status, and no part of it remains", async () => {
  const admin = anAdmin();
  await admin.import(rows(2));
  enlarge(admin, 40);
  const before = filesIn(admin);
  const copy = join(admin.folder, "copy.db");
  const said = "Stopped. No backup was made, and the partial copy was deleted. Run it again to complete it.\n";
  for (const [signal, status] of Object.entries(statusAfter)) {
    expect(await stopped(admin, signal as NodeJS.Signals, "backup", copy)).toEqual([status, said]); // Its keys.
    expect(filesIn(admin)).toEqual(before);
  }
  // A killed one leaves its draft, which is removed later (test/ops/leftovers.test.ts).
  expect(await stopped(admin, "SIGKILL", "backup", copy)).toEqual([137, ""]);
  expect((await admin.run("backup", "--drill", copy)).status).toBe(0);
});

test("a signal ends a drill, and its folder is removed", async () => {
  const admin = anAdmin();
  await admin.import(rows(2_000));
  const file = join(admin.folder, "copy.db");
  await admin.run("backup", file);
  thatNeverEnds(file);
  const before = filesIn(admin);
  expect(await stopped(admin, "SIGINT", "backup", "--drill", file)).toEqual([
    130,
    `Stopped. ${file} exists, but its test was not completed. Run it again to complete it.\n`,
  ]);
  expect(filesIn(admin)).toEqual(before);
});

test("a signal ends a restore, and the database is unchanged", async () => {
  const admin = anAdmin();
  await admin.import(rows(2));
  enlarge(admin, 40);
  const file = join(admin.folder, "copy.db");
  await admin.run("backup", file);
  await admin.import("date,pixel_id,email\n2026-02-01,px,newer@example.com\n");
  const exported = await admin.exported();
  const before = filesIn(admin);
  expect(await stopped(admin, "SIGTERM", "restore", file)).toEqual([
    143,
    `Stopped. ${admin.file} has not changed. Run it again to complete it.\n`,
  ]);
  expect(filesIn(admin)).toEqual(before);
  expect(await stopped(admin, "SIGKILL", "restore", file)).toEqual([137, ""]);
  expect(await admin.exported()).toBe(exported);
  expect((await admin.run("restore", file)).status).toBe(0);
  expect(await admin.leads()).toHaveLength(2);
  expect(filesIn(admin).filter((name) => name.includes("draft"))).toEqual([]);
});

test("a signal ends an erasure that rewrites the file, and a retention that completes it; the next one completes", async () => {
  const admin = anAdmin();
  const young = `${new Date().toISOString()},px,young@example.com\n`;
  await admin.import(`identified_at,pixel_id,email\n2020-01-31T10:00:00Z,px,old@example.com\n${young}`);
  enlarge(admin, 110);
  const reader = openConnection(admin.file);
  onTestFinished(() => reader.$client.close());
  // The command waits for the log as long as a transaction reads the old state.
  reader.run(sql`BEGIN`);
  expect(reader.values(sql`SELECT count(*) FROM stored_leads`)).toEqual([[2]]);
  for (const command of [
    ["lead", "erase", "acme", "--email", "old@example.com"],
    ["retain", "acme", "--days", "45"],
  ]) {
    const { complained, end, errors } = admin.start(...command);
    await complained(/removes the bytes\.\n$/);
    const last = /(?:^|\n)Rewriting the file to remove residual bytes \(1\d\d MB\)\. Ctrl-C is safe: [^\n]+\n$/;
    expect([await end("SIGINT"), errors()]).toEqual([130, expect.stringMatching(last)]);
  }
  reader.run(sql`ROLLBACK`);
  expect(await admin.run("retain", "acme", "--days", "45")).toMatchObject({
    status: 0,
    stdout: "Leads of acme are kept for 45 days; none was older.\n",
    stderr: expect.stringMatching(/ was rewritten: it and its log have no bytes of the deleted leads\.\n$/),
  });
  expect(filesWith(admin.folder, "old@example.com")).toEqual([]);
});
