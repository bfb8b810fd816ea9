/** Every import has a number, and can be undone: exactly what it added, and nothing else. */

import { expect, onTestFinished, test } from "bun:test";
import { join } from "node:path";
import { sql } from "drizzle-orm";
import { findAccount } from "../../src/db/accounts.ts";
import { findImport } from "../../src/db/imports.ts";
import { openConnection } from "../../src/db/open.ts";
import { undoImport } from "../../src/import/write/undo.ts";
import { type Admin, anAdmin } from "../support/admin.ts";
import { watchDatabases } from "../support/closing.ts";
import { openTestDatabase } from "../support/database.ts";
import { onTerminal, plain } from "../support/terminal.ts";
import { betweenTransactions, signalBelow } from "../support/write-lock.ts";

const px = ["--pixel", "px"];
/** The leads of an import that takes several transactions. */
const many = 6_000;
const manyRows = `date,email\n${Array.from({ length: many }, (_, n) => `2026-01-31,d${n}@example.com\n`).join("")}`;
const january = "date,email\n2026-01-10,a@example.com\n2026-01-10,b@example.com\n2026-01-12,c@example.com\n";
const overlapping = "date,email\n2026-01-09,d@example.com\n2026-01-10,b@example.com\n2026-01-11,e@example.com\n";

const undo = (admin: Admin, number: number) => admin.run("import", "undo", "acme", String(number), "--json");

async function listed(admin: Admin, account = "acme") {
  return JSON.parse((await admin.run("import", "list", account, "--json")).stdout) as Record<string, unknown>[];
}

test("an undo restores the export byte for byte", async () => {
  const admin = anAdmin();
  await admin.import(january, ...px);
  const before = await admin.exported();
  const { json } = await admin.import(overlapping, ...px);
  expect(json).toMatchObject({ import: 2, imported: 2, duplicates: 1 });
  const after = await admin.exported();
  const undone = await undo(admin, 2);
  expect([undone.json as unknown, undone.status]).toEqual([{ import: 2, removed: 2 }, 0]);
  const [latest] = JSON.parse((await admin.run("audit", "list", "--json")).stdout);
  expect(latest).toMatchObject({ act: "import.undo", detail: { import: 2, leads: 2 } });
  expect(await admin.exported()).toBe(before);
  // It blocks nobody.
  expect((await admin.import(overlapping, ...px)).json).toMatchObject({ import: 3, imported: 2, suppressed: 0 });
  expect(await admin.exported()).toBe(after);
  // An import that adds nothing has no number.
  expect((await admin.import(overlapping, ...px)).json).toMatchObject({ import: null, duplicates: 3 });
  expect(await listed(admin)).toHaveLength(3);
});

test("an undo removes leads that another file also has, and names the file to import again", async () => {
  const admin = anAdmin();
  await admin.import(january, ...px);
  await admin.import(overlapping, ...px);
  expect(await undo(admin, 1)).toMatchObject({
    status: 0,
    stderr: expect.stringContaining("import those files again"),
  });
  expect((await admin.leads()).map(({ email }) => email)).toEqual(["d@example.com", "e@example.com"]);
  expect((await admin.import(overlapping, ...px)).json).toMatchObject({ imported: 1, duplicates: 2 });
});

test("the list shows the time, file, user, counts, and period of each import", async () => {
  const admin = anAdmin(["acme", "other"]);
  const file = admin.put("export of january.csv", january);
  await admin.run("lead", "import", "acme", file, ...px, "--create-pixels");
  await admin.import(overlapping, ...px);
  const [, { finished_at } = {}] = await listed(admin);
  expect(finished_at).toEqual(expect.stringMatching(/Z$/));
  await undo(admin, 1);
  // An undo keeps the time of the import.
  expect(await listed(admin)).toMatchObject([
    { import: 2, file: "-", read: 3, imported: 2, duplicates: 1, undone_at: null },
    {
      import: 1,
      file: "export of january.csv",
      by: expect.stringMatching(/./),
      read: 3,
      imported: 3,
      moved: 1,
      oldest: "2026-01-10T00:00:00.000Z",
      newest: "2026-01-12T00:00:00.000Z",
      finished_at,
      undone_at: expect.stringMatching(/Z$/),
    },
  ]);
  expect(await listed(admin, "other")).toEqual([]);
  expect((await admin.run("import", "list", "other")).stdout).toBe("The account has no imports.\n");
  const [header] = (await admin.run("import", "list", "acme")).stdout.split("\n");
  expect(header?.split(/ +/)).toEqual("IMPORT AT STATE ADDED REPLACED OLDEST NEWEST BY FILE".split(" "));
  expect((await admin.run("import", "list", "acme")).stdout).toMatch(/1 .*undone .*export of january\.csv/);
});

test("the list is a table on a terminal of 80 columns", async () => {
  const admin = anAdmin();
  await admin.run("lead", "import", "acme", admin.put("visits-of-2026-01-31.csv", january), ...px, "--create-pixels");
  const terminal = onTerminal(admin.file, ["import", "list", "acme"]);
  expect(await terminal.ended).toBe(0);
  expect(plain(terminal.shown()).split("\n")).toEqual([
    "IMPORT  AT                   STATE  ADDED  REPLACED  FILE",
    expect.stringMatching(/^1 {7}20[\d-]{8} [\d:]{8} {2}done {3}3 {6}0 {9}visits-of-2026-01-31\.csv$/),
    "",
  ]);
});

test("an import that replaced leads of others cannot be undone, and each import ends with whether it can", async () => {
  const admin = anAdmin();
  const last = async (text: string) => {
    const how = ["--on-duplicate", "replace"];
    const { stdout } = await admin.give(text, "lead", "import", "acme", "-", ...px, "--create-pixels", ...how);
    return stdout.trim().split("\n").at(-1);
  };
  expect(await last("id,email\n1,a@example.com\n")).toMatch(/^This is import 1; .* import undo acme 1\.$/);
  expect(await last("id,email,name\n1,a@example.com,Dana\n2,b@example.com,Lee\n")).toBe(
    "This is import 2; it replaced 1 lead of other imports and cannot be undone.",
  );
  const { status, stderr } = await undo(admin, 2);
  expect([status, stderr]).toEqual([1, expect.stringMatching(/^Import 2 replaced leads of other imports[^\n]*\n$/)]);
  expect(await admin.leads()).toHaveLength(2);
});

test("an import that replaced only its own leads can be undone", async () => {
  const admin = anAdmin();
  const seen = "email,date,city\na@example.com,2026-01-10,Reno\na@example.com,2026-01-11,Sparks\n";
  const { json } = await admin.import(seen, ...px, "--identity", "email", "--on-duplicate", "replace");
  expect(json).toMatchObject({ import: 1, imported: 1, replaced: 1 });
  expect(await admin.leads()).toMatchObject([{ city: "Sparks" }]);
  expect((await undo(admin, 1)).json as unknown).toEqual({ import: 1, removed: 1 });
  expect(await admin.exported()).toBe("");
});

test("an import that starts to replace leads during its undo stops the undo", async () => {
  const admin = anAdmin();
  await admin.import(january, ...px);
  const closeDatabases = watchDatabases();
  onTestFinished(closeDatabases);
  const database = openTestDatabase(admin.file);
  const account = findAccount(database.read, "acme");
  const record = account === null ? null : findImport(database.read, account.number, 1);
  if (account === null || record === null) throw new Error("there is no import");
  const running = openConnection(admin.file);
  onTestFinished(() => running.$client.close());
  running.run(sql`UPDATE imports SET overwritten = 1, replaced = 1, read = read + 1`);
  const undoing = Array.fromAsync(undoImport(database, account, record, () => 0));
  await expect(undoing).rejects.toThrow("Import 1 replaced leads of other imports");
  expect(await admin.leads()).toHaveLength(3);
});

test("undoing twice changes nothing, and an unknown number is rejected", async () => {
  const admin = anAdmin(["acme", "other"]);
  await admin.import(january, ...px);
  await undo(admin, 1);
  expect((await undo(admin, 1)).json as unknown).toEqual({ import: 1, removed: 0 });
  for (const args of [
    ["acme", "2"],
    ["acme", "one"],
    ["other", "1"],
  ]) {
    const { status, stderr } = await admin.run("import", "undo", ...args);
    expect([status, stderr]).toEqual([1, expect.stringMatching(/^The account has no import .* import list .*\n$/)]);
  }
});

test("an import that only rejected rows has no number to undo", async () => {
  const admin = anAdmin();
  await admin.import("date,email\nnever,a@example.com\n", ...px, "--rejects", join(admin.folder, "rejects.csv"));
  const none = { status: 1, stderr: expect.stringContaining("has no import") };
  expect(await admin.run("import", "undo", "acme", "1")).toMatchObject(none);
});

test("an undo that is stopped or killed is listed as unfinished, and the next one completes it", async () => {
  const admin = anAdmin();
  await admin.import("date,email\n2025-12-31,z@example.com\n", ...px);
  const before = await admin.exported();
  await admin.import(manyRows, ...px);
  const leftAfter = async (leads: number, signal: "SIGKILL" | "SIGINT") => {
    const child = admin.start("import", "undo", "acme", "2");
    const status = await signalBelow(leads, admin.file, child, signal);
    const left = (await admin.leads()).length;
    expect([left > 1, left < leads]).toEqual([true, true]);
    expect((await admin.run("import", "list", "acme")).stdout).toMatch(/^2 .* not finished /m);
    return { status, left, said: child.errors() };
  };
  const { status, left, said } = await leftAfter(many + 1, "SIGINT");
  const stopped =
    /\nStopped after ([\d,]+) leads of import 2 were removed\. The import is not undone yet\. Run the command again [^\n]+\n$/;
  expect([status, Number(stopped.exec(`\n${said}`)?.[1]?.replaceAll(",", ""))]).toEqual([130, many + 1 - left]);
  const killed = await leftAfter(left, "SIGKILL");
  expect((await undo(admin, 2)).json as unknown).toEqual({ import: 2, removed: killed.left - 1 });
  expect(await admin.exported()).toBe(before);
});

test("an import that still runs is undone with all that it adds in the meantime", async () => {
  const admin = anAdmin();
  await admin.import("date,email\n2025-12-31,z@example.com\n", ...px);
  const before = await admin.exported();
  const running = admin.start("lead", "import", "acme", admin.put("many.csv", manyRows), ...px);
  for await (const { leads } of betweenTransactions(admin.file, running.exited)) if (leads > 1) break;
  expect((await undo(admin, 2)).status).toBe(0);
  // It may have come to its end before.
  if ((await running.exited) !== 0)
    expect(running.errors()).toMatch(/^Import 2 was undone while it ran.*import the file again.*$/m);
  expect(await admin.exported()).toBe(before);
  expect(await listed(admin)).toMatchObject([{ import: 2, state: "undone" }, { import: 1 }]);
});
