/** The moment that every store gives to a lead: no two of an account share one. */
import { describe, expect, test } from "bun:test";
import { pageOf } from "../db/pages.ts";
import { accountIn, stores } from "../db/stores.ts";
import { aLead, importLeads, newLead, noonMs, someLeads } from "../support/builders.ts";

describe.each(stores)("in %s", (_, open) => {
  test("a tie moves up to the next free millisecond, also past leads of earlier imports", () => {
    const store = open();
    const { number } = accountIn(store);
    const at = (ms: string) => aLead({ identified_at: `2026-01-31T09:15:00.${ms}Z` });
    importLeads(store.leads, number, [at("000"), at("001"), at("003")].map(newLead));
    const tied = [at("000"), at("000")];
    const outcomes = importLeads(store.leads, number, tied.map(newLead));
    expect(outcomes).toMatchObject([{ moved: true }, { moved: true }]);
    const moments = new Map(pageOf(store, number).map((lead) => [lead.id, lead.identified_at]));
    expect(tied.map(({ id }) => moments.get(id))).toEqual(["2026-01-31T09:15:00.002Z", "2026-01-31T09:15:00.004Z"]);
  });

  test("a new lead older than the newest that there was is late, and no other is", () => {
    const store = open();
    const { number } = accountIn(store);
    const [early, first, second, third] = [aLead(), aLead(), aLead(), aLead()];
    expect(importLeads(store.leads, number, [second, first].map(newLead))).toMatchObject([
      { late: false },
      { late: false },
    ]);
    expect(importLeads(store.leads, number, [third, early].map(newLead))).toMatchObject([
      { late: false },
      { late: true },
    ]);
  });

  test("leads without a time get that of the import, one after the other, and later than the newest there is", () => {
    const store = open();
    const { number } = accountIn(store);
    const timeless = () => ({ ...newLead(aLead()), identifiedMs: null });
    const outcomes = importLeads(store.leads, number, [timeless(), timeless()]);
    expect(outcomes).toMatchObject([
      { moved: false, late: false },
      { moved: false, late: false },
    ]);
    importLeads(store.leads, number, [newLead(aLead({ identified_at: new Date(noonMs + 5_000).toISOString() }))]);
    importLeads(store.leads, number, [timeless()]);
    const moments = pageOf(store, number).map((lead) => Date.parse(lead.identified_at) - noonMs);
    expect(moments).toEqual([5_001, 5_000, 1, 0]);
  });

  test("two imports at once into one account lose nothing and place no two leads at one moment", () => {
    const store = open();
    const { number } = accountIn(store);
    const options = { onDuplicate: "skip", createPixels: true, dryRun: false } as const;
    const both = [store.leads.beginImport(number, options), store.leads.beginImport(number, options)];
    const leads = someLeads(20, { identified_at: "2026-01-31T09:15:00.000Z" });
    for (const [place, lead] of leads.entries()) both[place % 2]?.write([newLead(lead)], noonMs);
    const stored = pageOf(store, number);
    const ids = (those: typeof stored) => those.map(({ id }) => id).toSorted();
    expect(ids(stored)).toEqual(ids(leads));
    expect(new Set(stored.map((lead) => lead.identified_at)).size).toBe(leads.length);
  });
});
