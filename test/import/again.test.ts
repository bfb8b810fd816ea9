/** An export is read as the leads from which it was written. */
import { expect, test } from "bun:test";
import fc from "fast-check";
import { leadFields } from "../../src/contract/lead.ts";
import { csv, leadsOf } from "./reading.ts";

const words =
  "dana@example.com 619-555-0123 x45 CA California Canada US GA 2026-01-31 09:15 46053.5 Dana W https://a.example.com/?q=1 " +
  'N/A null [1,2] ["a","b"] =1+1 =" "" #N/A 🚢 é';
const piece = fc.constantFrom("+44 20 7946 0123", ...words.split(" "), ..."[]{}\"'\\,;|<>()@ \n-7");
const cell = fc.array(piece, { maxLength: 5 }).map((pieces) => pieces.join(""));
const fields = leadFields.filter((field) => field !== "identified_at");

test("whatever the cells of a row contain, its lead imports as the same lead from CSV and NDJSON", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(cell, { minLength: fields.length, maxLength: fields.length }), async (cells) => {
      const [reading] = await leadsOf(csv([fields, cells]));
      if (reading === undefined || !("lead" in reading)) return;
      // It has no time of its own, and must have none again.
      const { identified_at, ...lead }: Record<string, string | null> = JSON.parse(reading.lead.document);
      const [fromJson] = await leadsOf(`${JSON.stringify(lead)}\n`);
      const [fromCsv] = await leadsOf(csv([Object.keys(lead), Object.values(lead).map((value) => value ?? "")]));
      // Values that are not kept are not in the export.
      const kept = { ...reading.lead, aliases: [], vendorId: null };
      const { namesPerson } = reading;
      for (const again of [fromJson, fromCsv]) expect(again).toEqual({ lead: kept, warnings: [], namesPerson });
    }),
    { numRuns: 300 },
  );
});

test.each([
  ["N/A\nhttps://a.example.com/?q=1", "https://a.example.com/?q=1"],
  ['["a","b"] https://a.example.com/?q=1', "a"],
])("the page kept from the cell %j imports unchanged", async (cell, page) => {
  for (const text of [cell, page]) {
    const [reading] = await leadsOf(csv([["page_url"], [text]]));
    expect(reading).toMatchObject({ lead: { document: expect.stringContaining(`"page_url":"${page}"`) } });
  }
});
