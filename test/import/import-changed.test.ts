/** A visit that comes again with other content would be two leads; an import says so before it writes. */
import { describe, expect, test } from "bun:test";
import { anAdmin } from "../support/admin.ts";

const header = "timestamp,pixel_id,email,page_url,phone,utm_source";
const visits = (...rows: string[]) => `${[header, ...rows].join("\n")}\n`;
const visit = "2026-01-31T09:15:00Z,px,dana@example.com,/a,2125550100,";
const beside = "2026-01-31T09:15:00Z,px,sam@example.com,/a,2125550102,";
const later = "2026-02-28T09:15:00Z,px,lee@example.com,/a,2125550101,";

/** What the preview says of a second file. */
async function said(second: string, ...options: string[]): Promise<string> {
  const admin = anAdmin();
  await admin.import(visits(visit, beside, later), ...options);
  return (await admin.import(second, "--dry-run", ...options)).stderr;
}

describe("an import warns", () => {
  test.each([
    ["of a row whose phone was corrected", visit.replace("0100", "0199")],
    ["of a row to which a source was added", `${visit}google`],
    ["of the newest lead as well", `${later}google`],
    ["of one that shares its time with another visit", `${beside}google`],
  ])("%s", async (_, row) => {
    expect(await said(visits(row))).toContain("1 row with the time, page and visitor of a lead that is there");
  });
});

describe("of a file that a spreadsheet has saved again, without the seconds of its times", () => {
  const own = visits(visit.replace("15:00", "15:23"), later.replace("15:00", "15:59"));
  const saved = visits(visit.replace("2026-01-31T09:15:00Z", "1/31/2026 9:15"));
  const warning = "1 row with the minute, page and visitor of a lead that is there";

  /** What the preview says of it, after the vendor's own file. */
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
    ["a file with seconds", saved + beside.replace("15:00", "15:07")],
  ])("an import does not warn of %s", async (_, second) => {
    expect(await saidOf(second)).not.toContain("Warning");
  });
});

describe("an import does not warn", () => {
  test.each([
    ["of the same rows", visit],
    ["of another visitor at the same time", visit.replace("dana", "kim")],
    ["of another page at the same time", visit.replace("/a", "/b")],
    ["of another site at the same time", visit.replace("px", "px_b")],
    ["of another time", visit.replace("09:15", "09:16")],
  ])("%s", async (_, row) => {
    expect(await said(visits(row, later))).not.toContain("Warning");
  });

  test("of two visits in one second that it has brought itself", async () => {
    const admin = anAdmin();
    const both = visits(visit, `${visit}google`);
    await admin.import(both);
    expect((await admin.import(both)).stderr).not.toContain("Warning");
  });

  test("of what takes the place of the lead", async () => {
    const options = ["--identity", "email,page_url,identified_at", "--on-duplicate", "replace"];
    expect(await said(visits(`${visit}google`), ...options)).not.toContain("Warning");
  });
});
