/** The profiles of vendors: each recognizes its sample, and only its sample, and makes the expected lead of it. */
import { expect, test } from "bun:test";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { Columns } from "../../src/import/map/columns.ts";
import { readMapping } from "../../src/import/map/mapping.ts";
import { vendors } from "../../src/import/vendors/all.ts";
import type { Vendor } from "../../src/import/vendors/vendor.ts";
import { firstLead, leadsOf, readText, shown } from "./reading.ts";

const all = Object.entries(vendors).flatMap(([name, vendor]): [string, Vendor][] =>
  vendor === undefined ? [] : [[name, vendor]],
);
const textOf = ({ sample }: Vendor) => (typeof sample === "string" ? sample : `${JSON.stringify(sample)}\n`);
const uuid = /^[0-9a-f]{8}-/;

test("every profile is in the list, under the name of its file", () => {
  const folder = join(import.meta.dir, "../../src/import/vendors");
  const files = readdirSync(folder).filter((file) => file !== "all.ts" && file !== "vendor.ts");
  expect(files.map((file) => file.replace(".ts", "")).toSorted()).toEqual(all.map(([name]) => name).toSorted());
});

test.each(all)("%s recognizes its sample and makes its lead of it", async (_, vendor) => {
  const text = textOf(vendor);
  const { columns } = await readText(text);
  const { id, identified_at, pixel_id, ...details } = vendor.lead;
  const expected = { ...details, ...(identified_at && { at: identified_at }), ...(pixel_id && { pixel: pixel_id }) };
  expect((await leadsOf(text)).map(shown)).toEqual([expected]);
  expect(columns.vendor).toBe(_);
  const lead = await firstLead(text);
  if (id === undefined) expect(lead?.vendorId ?? null).toBeNull();
  else if (uuid.test(id)) expect(lead?.id).toBe(id);
  else expect(lead?.vendorId).toStartWith(id);
});

test.each(all)("%s names three paths or more that no other vendor has, and no field that is not kept", (_, vendor) => {
  for (const paths of vendor.recognizedBy) expect(paths.length).toBeGreaterThan(1);
  const kept = new Set(Object.values(vendor.fields).flat());
  expect(vendor.notKept.filter((path) => kept.has(path))).toEqual([]);
});

test("--vendor none reads a record by its names, and --vendor chooses one for all records", async () => {
  const vendorOf = (vendor: string | null) => new Columns(readMapping(null), vendor);
  const names = ["LinkedIn URL", "Captured URL", "Seen At"];
  const layoutOf = (columns: Columns) => columns.addHeader(names).profile?.name ?? null;
  expect(["none", null, "klaviyo"].map((vendor) => layoutOf(vendorOf(vendor)))).toEqual([null, "rb2b", "klaviyo"]);
  expect(() => vendorOf("acme")).toThrow("--vendor is");
});

test("identified_at and pixel_id of the record hold with every profile", async () => {
  const own = { identified_at: "2026-02-01T00:00:00Z", pixel_id: "px_own" };
  for (const [, { sample }] of all) {
    if (typeof sample === "string") continue;
    const [lead] = await leadsOf(`${JSON.stringify({ ...sample, ...own })}\n`);
    expect(lead === undefined ? null : shown(lead)).toMatchObject({ at: "2026-02-01T00:00:00.000Z", pixel: "px_own" });
  }
});

test("a record with a person in an object that a profile does not know is read without the profile", async () => {
  const visitor = { email: "dana@example.com" };
  const company = { companyId: "c1", name: "Harbor", employeeRange: "10", revenueRange: "1" };
  const session = { landingPage: "/a" };
  for (const record of [
    { company, confidence: "High" },
    { attribution: { pixelId: "px" }, session },
  ]) {
    const alone = await readText(`${JSON.stringify(record)}\n`);
    const other = await readText(`${JSON.stringify({ ...record, visitor })}\n`);
    expect([alone.columns.vendor, other.columns.vendor]).toEqual([expect.any(String), null]);
    expect(shown((await leadsOf(`${JSON.stringify({ ...record, visitor })}\n`))[0])).toMatchObject(visitor);
  }
});
