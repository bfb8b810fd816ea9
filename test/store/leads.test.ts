/** What every store does with leads: pages, imports, the export. */
import { describe, expect, test } from "bun:test";
import type { Lead } from "../../src/contract/lead.ts";
import type { LeadQuery } from "../../src/contract/parameters.ts";
import { aLead, importLeads, newLead, noonMs, someLeads } from "../builders.ts";
import type { StoreUnderTest } from "./store-under-test.ts";
import { accountIn, stores } from "./stores.ts";

const everything: LeadQuery = {
  limit: 100,
  beforeMs: null,
  sinceMs: null,
  pixelId: null,
  state: null,
  city: null,
  hasEmail: false,
};

const textOf = (document: Uint8Array) => Buffer.from(document).toString();
const pageOf = (store: StoreUnderTest, account: number, query: Partial<LeadQuery> = {}): Lead[] =>
  store.served.leads
    .page(account, { ...everything, ...query })
    .documents.map((document) => JSON.parse(textOf(document)));
const idsOf = (leads: readonly Lead[]) => leads.map((lead) => lead.id);

describe.each(stores)("in %s", (_, open) => {
  test("a page is newest first, and names the moment of its last lead when there are more", () => {
    const store = open();
    const { number } = accountIn(store);
    const leads = someLeads(3);
    importLeads(store.leads, number, leads.map(newLead));
    const { documents, nextMs } = store.served.leads.page(number, { ...everything, limit: 2 });
    expect(documents.map(textOf)).toEqual([JSON.stringify(leads[2]), JSON.stringify(leads[1])]);
    expect(nextMs).toBe(Date.parse(leads[1]?.identified_at ?? ""));
    expect(store.served.leads.page(number, { ...everything, limit: 3 }).nextMs).toBeNull();
  });

  test("the export holds the documents as they are served, oldest first", () => {
    const store = open();
    const { number } = accountIn(store);
    const leads = someLeads(5);
    importLeads(store.leads, number, leads.toReversed().map(newLead));
    expect([...store.leads.export(number)].flat()).toEqual(leads.map((lead) => JSON.stringify(lead)));
  });

  test("the same leads imported again change nothing", () => {
    const store = open();
    const { number } = accountIn(store);
    const leads = someLeads(4, { identified_at: "2026-01-31T09:15:00.000Z" }).map(newLead);
    importLeads(store.leads, number, leads);
    const before = pageOf(store, number);
    expect(importLeads(store.leads, number, leads)).toEqual(leads.map(() => ({ kind: "duplicate" })));
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
      pixel_id: "px_new",
      identified_at: "2026-02-01T00:00:00.000Z",
    };
    const outcomes = importLeads(store.leads, number, [newLead(enriched)], { onDuplicate: "replace" });
    expect(outcomes).toEqual([{ kind: "replaced" }]);
    const stored = { ...enriched, identified_at: lead.identified_at };
    expect(pageOf(store, number, { state: "NV", hasEmail: true, pixelId: "px_new" })).toEqual([stored]);
    expect(pageOf(store, number, { state: "CA" })).toEqual([]);
    expect(pageOf(store, number)).toHaveLength(1);
  });

  test("a lead with an id that another account has is a lead of its own", () => {
    const store = open();
    const lead = aLead();
    for (const name of ["one", "other"]) {
      const { number } = accountIn(store, name);
      expect(importLeads(store.leads, number, [newLead(lead)])).toMatchObject([{ kind: "imported", moved: false }]);
    }
  });

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

  test("a lead of a pixel that is not there is rejected unless pixels are made", () => {
    const store = open();
    const { number } = accountIn(store);
    const lead = newLead(aLead({ pixel_id: "px_new" }));
    expect(importLeads(store.leads, number, [lead], { createPixels: false })).toMatchObject([{ kind: "rejected" }]);
    expect(pageOf(store, number)).toEqual([]);
    expect(importLeads(store.leads, number, [lead])).toMatchObject([{ kind: "imported" }]);
    expect(store.served.pixels.list(number)).toEqual([{ id: "px_new", status: "active" }]);
  });

  test("a duplicate that is skipped makes no pixel", () => {
    const store = open();
    const { number } = accountIn(store);
    const lead = newLead(aLead());
    importLeads(store.leads, number, [lead]);
    expect(importLeads(store.leads, number, [{ ...lead, pixelId: "px_new" }])).toEqual([{ kind: "duplicate" }]);
    expect(store.served.pixels.list(number)).toEqual([{ id: "px_site", status: "active" }]);
  });

  test("a dry run ends as the import would, and leaves nothing behind", () => {
    const store = open();
    const { number } = accountIn(store);
    const there = aLead();
    importLeads(store.leads, number, [newLead(there)]);
    const before = pageOf(store, number);
    const leads = [there, aLead({ pixel_id: "px_new" }), aLead({ identified_at: there.identified_at })].map(newLead);
    const tried = importLeads(store.leads, number, leads, { dryRun: true });
    expect(tried).toMatchObject([{ kind: "duplicate" }, { moved: false, late: false }, { moved: true, late: false }]);
    expect(pageOf(store, number)).toEqual(before);
    expect(store.served.pixels.list(number)).toEqual([{ id: "px_site", status: "active" }]);
  });

  test("two imports at once into one account lose nothing and place no two leads at one moment", () => {
    const store = open();
    const { number } = accountIn(store);
    const options = { onDuplicate: "skip", createPixels: true, dryRun: false } as const;
    const both = [store.leads.beginImport(number, options), store.leads.beginImport(number, options)];
    const leads = someLeads(20, { identified_at: "2026-01-31T09:15:00.000Z" });
    for (const [place, lead] of leads.entries()) both[place % 2]?.write([newLead(lead)], noonMs);
    const stored = pageOf(store, number);
    expect(idsOf(stored).toSorted()).toEqual(idsOf(leads).toSorted());
    expect(new Set(stored.map((lead) => lead.identified_at)).size).toBe(leads.length);
  });
});
