/** Which leads there are does not depend on the order in which they came, nor on how the file was cut. */
import { expect, test } from "bun:test";
import fc from "fast-check";
import type { Lead } from "../../src/contract/lead.ts";
import { accountIn, openSqlite } from "../db/stores.ts";
import { aLead, importLeads, newLead, noonMs } from "../support/builders.ts";

const store = () => openSqlite();

test("whatever the order and the batches, the same leads exist, each at a millisecond of its own", () => {
  const real = store();
  let run = 0;
  // Few moments, so that most of them tie; each id has one content.
  const known = Array.from({ length: 25 }, (_, n) => aLead({ name: `Lead ${n}` }));
  const lead = fc
    .tuple(fc.constantFrom(...known), fc.integer({ min: 0, max: 5 }))
    .map(([lead, ms]): Lead => ({ ...lead, identified_at: new Date(noonMs + ms).toISOString() }));
  const leads = fc.array(lead, { minLength: 1, maxLength: 40 });
  const shuffled = leads.chain((inOrder) =>
    fc.tuple(
      fc.constant(inOrder),
      fc.shuffledSubarray(inOrder, { minLength: inOrder.length }),
      fc.array(fc.integer({ min: 1, max: 7 }), { minLength: 1 }),
    ),
  );
  const withoutTime = (document: string) => JSON.stringify({ ...(JSON.parse(document) as Lead), identified_at: "" });
  fc.assert(
    fc.property(shuffled, ([inOrder, other, sizes]) => {
      const stored = [() => [inOrder], () => batches(other, sizes)].map((cut) => {
        const account = accountIn(real, `run ${run++}`).number;
        for (const batch of cut()) importLeads(real.leads, account, batch.map(newLead));
        return [...real.leads.export(account)].flat();
      });
      const [first = [], second = []] = stored;
      expect(second.map(withoutTime).toSorted()).toEqual(first.map(withoutTime).toSorted());
      for (const documents of stored) {
        const moments = documents.map((document) => (JSON.parse(document) as Lead).identified_at);
        expect(new Set(moments).size).toBe(moments.length);
        expect(moments).toEqual(moments.toSorted());
      }
    }),
    { numRuns: 200 },
  );
});

test("the same file cut into other batches gives the same documents to the byte", () => {
  const real = store();
  let run = 0;
  const lead = fc
    .integer({ min: 0, max: 4 })
    .map((ms) => aLead({ identified_at: new Date(noonMs + ms).toISOString() }));
  fc.assert(
    fc.property(
      fc.array(lead, { maxLength: 40 }),
      fc.array(fc.integer({ min: 1, max: 7 }), { minLength: 1 }),
      (leads, sizes) => {
        const [first, second] = [[leads], batches(leads, sizes)].map((cut) => {
          const account = accountIn(real, `run ${run++}`).number;
          for (const batch of cut) importLeads(real.leads, account, batch.map(newLead));
          return [...real.leads.export(account)].flat();
        });
        expect(second).toEqual(first ?? []);
      },
    ),
    { numRuns: 100 },
  );
});

/** Cuts a list into pieces of these sizes, from the first one again when they are used up. */
function batches<Item>(items: readonly Item[], sizes: readonly number[]): Item[][] {
  const cut: Item[][] = [];
  for (let at = 0; at < items.length; ) {
    const size = sizes[cut.length % sizes.length] ?? 1;
    cut.push(items.slice(at, at + size));
    at += size;
  }
  return cut;
}
