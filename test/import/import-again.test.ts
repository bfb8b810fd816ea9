/** Imports of rows that are already stored, and their dry runs. */
import { Database } from "bun:sqlite";
import { describe, expect, test } from "bun:test";
import { anAdmin } from "../support/admin.ts";

const two = "email,city\ndana@example.com,Reno\nlee@example.com,Austin\n";
const px = ["--pixel", "px"];

test("--identity identifies rows by its fields", async () => {
  const rows = "email,page,age\nd@example.com,/a,20\nd@example.com,/a,30\nd@example.com,/b,30\n";
  expect((await anAdmin().import(rows, ...px)).json).toMatchObject({ imported: 3, duplicates: 0 });
  expect((await anAdmin().import(rows, ...px, "--identity", "email, page_url")).json).toMatchObject({
    imported: 2,
    duplicates: 1,
  });
});

test("--identity does not depend on the order of its fields", async () => {
  const admin = anAdmin();
  await admin.import(two, ...px, "--identity", "email,city");
  expect((await admin.import(two, ...px, "--identity", "city,email")).json).toMatchObject({ duplicates: 2 });
});

test("skips a duplicate, and replaces it at its time with --on-duplicate replace", async () => {
  const admin = anAdmin();
  const id = crypto.randomUUID();
  const row = (time: string, city: string) =>
    `id,identified_at,email,city,state\n${id},${time},d@example.com,${city},NV\n`;
  await admin.import(row("2026-01-31T09:15:00Z", "Reno"), ...px);
  const [before] = await admin.leads();
  expect((await admin.import(row("2026-02-01", "Sparks"), ...px)).json).toMatchObject({
    duplicates: 1,
    imported: 0,
    replaced: 0,
  });
  expect<unknown[]>(await admin.leads()).toEqual([before]);
  const replaced = await admin.import(row("2026-02-01", "Sparks"), ...px, "--on-duplicate", "replace");
  expect(replaced.json).toMatchObject({ read: 1, duplicates: 0, imported: 0, replaced: 1 });
  expect<unknown[]>(await admin.leads()).toEqual([{ ...before, city: "Sparks" }]);
});

describe("--dry-run", () => {
  const mixed =
    "identified_at,pixel_id,email\n2026-01-31,px_new,a@example.com\n2026-01-31,px_new,b@example.com\n" +
    "2026-01-31,px_new,a@example.com\n31/31/2026,px_new,c@example.com\n2026-01-31,px,\n2025-01-01,px_old,d@example.com\n";

  test.each([["skip"], ["replace"]])(
    "changes nothing, and has the output and exit status of the import (%s)",
    async (kind) => {
      const admin = anAdmin();
      await admin.import(
        "identified_at,pixel_id,email\n2026-01-30,px_old,z@example.com\n2026-01-31,px_new,b@example.com\n",
      );
      const before = await admin.exported();
      const pixels = (await admin.run("pixel", "list", "acme", "--json")).stdout;
      const tried = await admin.import(mixed, "--on-duplicate", kind, "--dry-run");
      expect(await admin.exported()).toBe(before);
      expect((await admin.run("pixel", "list", "acme", "--json")).stdout).toBe(pixels);
      const real = await admin.import(mixed, "--on-duplicate", kind);
      // A dry run is no batch.
      const { columns: _, sample: __, ...counts } = tried.json;
      expect([counts, tried.status]).toEqual([{ ...real.json, import: null }, real.status]);
      expect(real.json).toMatchObject({ read: 6, rejected: 2, late: 1 });
      expect(real.status).toBe(3);
    },
  );

  test("neither waits for another writer nor blocks one", async () => {
    const admin = anAdmin();
    using other = new Database(admin.file);
    other.run("BEGIN IMMEDIATE");
    const tried = await admin.import(two, ...px, "--dry-run");
    other.run("COMMIT");
    expect(tried).toMatchObject({ status: 0, json: { imported: 2 } });
  });

  test("prints that nothing was imported", async () => {
    const admin = anAdmin();
    const file = admin.put("export.csv", two);
    const { stdout } = await admin.run("lead", "import", "acme", file, ...px, "--create-pixels", "--dry-run");
    expect(stdout).toContain("Nothing was changed");
  });
});

const visitHeader = "timestamp,pixel_id,email,page_url,phone,utm_source";
const visits = (...rows: string[]) => `${[visitHeader, ...rows].join("\n")}\n`;
const visit = "2026-01-31T09:15:00Z,px,dana@example.com,/a,2125550100,";
const tied = "2026-01-31T09:15:00Z,px,sam@example.com,/a,2125550102,";
const later = "2026-02-28T09:15:00Z,px,lee@example.com,/a,2125550101,";

/** Returns the preview of a second file. */
async function said(second: string, ...options: string[]): Promise<string> {
  const admin = anAdmin();
  await admin.import(visits(visit, tied, later), ...options);
  return (await admin.import(second, "--dry-run", ...options)).stderr;
}

describe("an import warns of a stored visit with other content", () => {
  test.each([
    ["in a row whose phone was corrected", visit.replace("0100", "0199")],
    ["in a row to which a source was added", `${visit}google`],
    ["of the newest lead as well", `${later}google`],
    ["of one that shares its time with another visit", `${tied}google`],
  ])("%s", async (_, row) => {
    expect(await said(visits(row))).toContain("1 row with the time, page, and visitor of a stored lead");
  });
});

describe("of a file whose times lost their seconds in a spreadsheet", () => {
  const own = visits(visit.replace("15:00", "15:23"), later.replace("15:00", "15:59"));
  const saved = visits(visit.replace("2026-01-31T09:15:00Z", "1/31/2026 9:15"));
  const warning = "1 row with the minute, page, and visitor of a stored lead";

  /** Returns the preview of it, after the vendor's own file. */
  async function saidOf(second: string): Promise<string> {
    const admin = anAdmin();
    await admin.import(own);
    return (await admin.import(second, "--dry-run")).stderr;
  }

  test("an import warns", async () => {
    expect(await saidOf(saved)).toContain(warning);
  });

  test.each([
    ["another minute", saved.replace("9:15", "9:14")],
    ["another page", saved.replace("/a", "/b")],
    ["a file with seconds", saved + tied.replace("15:00", "15:07")],
  ])("an import does not warn of %s", async (_, second) => {
    expect(await saidOf(second)).not.toContain("Warning");
  });
});

describe("an import does not warn of a visit with other content", () => {
  test.each([
    ["of the same rows", visit],
    ["of another visitor at the same time", visit.replace("dana", "kim")],
    ["of another page at the same time", visit.replace("/a", "/b")],
    ["of another site at the same time", visit.replace("px", "px_b")],
    ["of another time", visit.replace("09:15", "09:16")],
  ])("%s", async (_, row) => {
    expect(await said(visits(row, later))).not.toContain("Warning");
  });

  test("of two visits in one second of the same file", async () => {
    const admin = anAdmin();
    const both = visits(visit, `${visit}google`);
    await admin.import(both);
    expect((await admin.import(both)).stderr).not.toContain("Warning");
  });

  test("of a replaced lead", async () => {
    const options = ["--identity", "email,page_url,identified_at", "--on-duplicate", "replace"];
    expect(await said(visits(`${visit}google`), ...options)).not.toContain("Warning");
  });
});
