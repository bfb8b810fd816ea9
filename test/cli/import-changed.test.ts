/** A visit that comes again with other content would be two leads; an import says so before it writes. */
import { describe, expect, test } from "bun:test";
import { anAdmin } from "../admin.ts";

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
