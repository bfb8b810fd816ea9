/** The SQLite store beside the model: whatever is done to both, both answer alike. */
import { expect, test } from "bun:test";
import fc from "fast-check";
import { writeDocument } from "../../src/contract/stored-lead.ts";
import { writeMoment } from "../../src/contract/time.ts";
import type { NewLead } from "../../src/import/new-lead.ts";
import { aLead, importLeads, noonMs } from "../support/builders.ts";
import { openModel } from "./model.ts";
import { accountIn, openSqlite } from "./stores.ts";

test("whatever is imported and asked, SQLite answers as the model does", () => {
  const lead: fc.Arbitrary<NewLead> = fc
    .record({
      // Few values, so that ids repeat, moments tie and filters meet.
      id: fc.constantFrom(...Array.from({ length: 30 }, () => crypto.randomUUID())),
      identifiedMs: fc.option(fc.integer({ min: noonMs - 6, max: noonMs + 6 })),
      pixelId: fc.constantFrom("px_a", "px_b"),
      state: fc.constantFrom("CA", "NV", null),
      cityKey: fc.constantFrom("reno", "austin", null),
      hasEmail: fc.boolean(),
      name: fc.constantFrom("A", "B"),
    })
    .map(({ name, ...lead }) => {
      const { id, pixelId, identifiedMs } = lead;
      const identified_at = writeMoment(identifiedMs ?? 0);
      const made = aLead({ id, identified_at, pixel_id: pixelId, name });
      return { ...lead, clamped: false, aliases: [], vendorId: null, document: writeDocument(made, made) };
    });
  const options = fc.record({
    onDuplicate: fc.constantFrom("skip" as const, "replace" as const),
    createPixels: fc.boolean(),
  });
  const moment = fc.option(fc.integer({ min: noonMs - 8, max: noonMs + 8 }));
  const query = fc.record({
    limit: fc.integer({ min: 1, max: 8 }),
    beforeMs: moment,
    sinceMs: moment,
    pixelId: fc.constantFrom("px_a", "px_b", "px_c", null),
    state: fc.constantFrom("CA", "NV", "TX", null),
    city: fc.constantFrom("reno", "austin", null),
    hasEmail: fc.boolean(),
  });
  const imports = fc.array(fc.tuple(fc.array(lead, { maxLength: 12 }), options), { maxLength: 4 });
  const real = openSqlite();
  let run = 0;
  fc.assert(
    fc.property(imports, fc.array(query, { minLength: 3, maxLength: 8 }), (imports, queries) => {
      const both = [real, openModel()].map((store) => ({ store, account: accountIn(store, `run ${run}`).number }));
      run++;
      for (const [leads, how] of imports) {
        const [ofReal, ofModel] = both.map(({ store, account }) =>
          importLeads(store.leads, account, leads, how).map((outcome) => ({ ...outcome, reason: "" })),
        );
        expect(ofReal).toEqual(ofModel ?? []);
      }
      const answers = both.map(({ store, account }) => [
        [...store.leads.export(account)].flat(),
        store.served.pixels.list(account),
        ...queries.map((query) => store.served.leads.page(account, query)),
      ]);
      expect(answers[0]).toEqual(answers[1] ?? []);
    }),
    { numRuns: 150 },
  );
});
