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

describe("--dry-run", () => {
  const mixed =
    "identified_at,pixel_id,email\n2026-01-31,px_new,a@example.com\n2026-01-31,px_new,b@example.com\n" +
    "2026-01-31,px_new,a@example.com\n31/31/2026,px_new,c@example.com\n2026-01-31,px,\n2025-01-01,px_old,d@example.com\n" +
    ["a", "a", "e", "a"].map((name) => `2026-01-01,px_unknown,${name}@example.com\n`).join("");

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
      // A dry run is no import.
      const { columns: _, sample: __, ...counts } = tried.json;
      expect([counts, tried.status]).toEqual([{ ...real.json, import: null }, real.status]);
      expect(real.json).toMatchObject({ read: 10, rejected: 2, late: 3, replaced: kind === "replace" ? 4 : 0 });
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

const visits = (...rows: string[]) => ["timestamp,pixel_id,email,page_url,phone,utm_source", ...rows, ""].join("\n");
const visit = "2026-01-31T09:15:00Z,px,dana@example.com,/a,2125550100,";
const tied = "2026-01-31T09:15:00Z,px,sam@example.com,/a,2125550102,";
const later = "2026-02-28T09:15:00Z,px,lee@example.com,/a,2125550101,";
const stored = visits(visit, tied, later);
/** The vendor's own file, and what a spreadsheet, which drops seconds, saves of its first row. */
const own = visits(visit.replace("15:00", "15:23"), later.replace("15:00", "15:59"));
const saved = visits(visit.replace("2026-01-31T09:15:00Z", "1/31/2026 9:15"));
const replacing = ["--identity", "email,page_url,identified_at", "--on-duplicate", "replace"];
const twice = visits(visit, `${visit}google`);
/** A vendor who counts anew each month. */
const ofMonth = (month: string) =>
  `ID,date,email\n1,2026-${month}-01,a${month}@example.com\n2,2026-${month}-02,b${month}@example.com\n`;
const untimed = (email: string) => `ID,email\n1,${email}\n`;
const timed = (email: string) => `ID,date,email\n1,2026-01-01,${email}\n`;
const ties = `ID,date,email\n${Array.from({ length: 50 }, (_, n) => `${n},2026-01-01,d${n}@example.com\n`).join("")}`;
const arrival = ["--stamp", "arrival"];
const byName = ["--map", "ID=-,email=name", "--identity", "name"];
const isStored = "with the ID of a stored lead";
const areStored = "Warning: at least 2 rows with the ID of a stored lead";

describe("an import after another one", () => {
  const [ofTime, ofMinute] = ["time", "minute"].map(
    (what) => `1 row with the ${what}, page, and visitor of a stored lead`,
  );
  test.each<[what: string, first: string, second: string, warning: string | undefined, options?: readonly string[]]>([
    ["warns of a row whose phone was corrected", stored, visits(visit.replace("0100", "0199")), ofTime],
    ["warns of a row to which a source was added", stored, visits(`${visit}google`), ofTime],
    ["warns of the newest lead as well", stored, visits(`${later}google`), ofTime],
    ["warns of a visit that shares its time with another one", stored, visits(`${tied}google`), ofTime],
    ["warns of times that lost their seconds in a spreadsheet", own, saved, ofMinute],
    ["does not warn of such a file in another minute", own, saved.replace("9:15", "9:14"), undefined],
    ["does not warn of such a file with another page", own, saved.replace("/a", "/b"), undefined],
    ["does not warn of such a file with seconds", own, saved + tied.replace("15:00", "15:07"), undefined],
    ["does not warn of the same rows", stored, visits(visit, later), undefined],
    [
      "does not warn of another visitor at the same time",
      stored,
      visits(visit.replace("dana", "kim"), later),
      undefined,
    ],
    ["does not warn of another page at the same time", stored, visits(visit.replace("/a", "/b"), later), undefined],
    ["does not warn of another site at the same time", stored, visits(visit.replace("px", "px_b"), later), undefined],
    ["does not warn of another time", stored, visits(visit.replace("09:15", "09:16"), later), undefined],
    ["does not warn of two visits in one second of the same file", twice, twice, undefined],
    ["does not warn of a replaced lead", stored, visits(`${visit}google`), undefined, replacing],
    ["warns of IDs that another file has for other visits", ofMonth("01"), ofMonth("02"), areStored],
    ["warns of them with replace, too", ofMonth("01"), ofMonth("02"), areStored, ["--on-duplicate", "replace"]],
    ["does not warn of IDs that are no IDs", ofMonth("01"), ofMonth("02"), undefined, ["--map", "ID=-"]],
    [
      "warns of an ID of another person without a time",
      untimed("dana@example.com"),
      untimed("lee@example.com"),
      isStored,
    ],
    ["does not warn of an ID of the same person", untimed("dana@example.com"), untimed("Dana@example.com"), undefined],
    [
      "warns of an ID of another person at arrival",
      timed("dana@example.com"),
      timed("lee@example.com"),
      isStored,
      arrival,
    ],
    ["does not warn of the same visits, of which some were moved", ties, ties, undefined],
    ["does not warn of the same visits at arrival", ties, ties, undefined, arrival],
    ["does not warn with --identity", timed("Dana"), timed("Dana").replace("01-01", "02-01"), undefined, byName],
  ])("%s", async (_, first, second, warning, options = []) => {
    const admin = anAdmin();
    await admin.import(first, ...px, ...options);
    const { stderr } = await admin.import(second, ...px, "--dry-run", ...options);
    expect(stderr).toEqual(
      warning === undefined ? expect.not.stringContaining("Warning") : expect.stringContaining(warning),
    );
  });
});
