/** What every store does with a lead that it may have already. */
import { describe, expect, test } from "bun:test";
import { pageOf } from "../db/pages.ts";
import { accountIn, stores } from "../db/stores.ts";
import { aLead, importLeads, newLead, someLeads } from "../support/builders.ts";

describe.each(stores)("in %s", (_, open) => {
  test("the same leads imported again change nothing", () => {
    const store = open();
    const { number } = accountIn(store);
    const leads = someLeads(4, { identified_at: "2026-01-31T09:15:00.000Z" }).map(newLead);
    importLeads(store.leads, number, leads);
    const before = pageOf(store, number);
    expect(importLeads(store.leads, number, leads)).toEqual(
      leads.map(() => ({ kind: "duplicate", ofOtherVisit: false })),
    );
    expect(pageOf(store, number)).toEqual(before);
  });

  test("a lead that is replaced keeps its moment and is found by its new values alone", () => {
    const store = open();
    const { number } = accountIn(store);
    const lead = aLead({ state: "CA", city: "Reno", email: null });
    importLeads(store.leads, number, [newLead(lead)]);
    const enriched = {
      ...lead,
      state: "NV",
      email: "dana@example.com",
      identified_at: "2026-02-01T00:00:00.000Z",
    };
    const outcomes = importLeads(store.leads, number, [newLead(enriched)], { onDuplicate: "replace" });
    expect(outcomes).toMatchObject([{ kind: "replaced" }]);
    const stored = { ...enriched, identified_at: lead.identified_at };
    expect(pageOf(store, number, { state: "NV", hasEmail: true, pixelId: "px_site" })).toEqual([stored]);
    expect(pageOf(store, number, { state: "CA" })).toEqual([]);
    expect(pageOf(store, number)).toHaveLength(1);
  });

  test("a lead of another pixel is never replaced", () => {
    const store = open();
    const { number } = accountIn(store);
    const lead = aLead({ email: "dana@example.com" });
    importLeads(store.leads, number, [newLead(lead)]);
    const other = newLead({ ...lead, email: "lee@example.com", pixel_id: "px_new" });
    const outcomes = importLeads(store.leads, number, [other], { onDuplicate: "replace" });
    expect(outcomes).toEqual([{ kind: "duplicate", ofOtherVisit: false }]);
    expect(pageOf(store, number)).toEqual([lead]);
  });

  test("a lead with an id that another account has is a lead of its own", () => {
    const store = open();
    const lead = aLead();
    for (const name of ["one", "other"]) {
      const { number } = accountIn(store, name);
      expect(importLeads(store.leads, number, [newLead(lead)])).toMatchObject([{ kind: "imported", moved: false }]);
    }
  });

  test("a duplicate that is skipped makes no pixel", () => {
    const store = open();
    const { number } = accountIn(store);
    const lead = newLead(aLead());
    importLeads(store.leads, number, [lead]);
    expect(importLeads(store.leads, number, [{ ...lead, pixelId: "px_new" }])).toEqual([
      { kind: "duplicate", ofOtherVisit: false },
    ]);
    expect(store.served.pixels.list(number)).toEqual([{ id: "px_site", status: "active" }]);
  });
});
