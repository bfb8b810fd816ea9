/** What every store takes only if it is told to: a new pixel, and the import itself. */
import { describe, expect, test } from "bun:test";
import { aLead, importLeads, newLead } from "../builders.ts";
import { pageOf } from "./pages.ts";
import { accountIn, stores } from "./stores.ts";

describe.each(stores)("in %s", (_, open) => {
  test("a lead of a pixel that is not there is rejected unless pixels are made", () => {
    const store = open();
    const { number } = accountIn(store);
    const lead = newLead(aLead({ pixel_id: "px_new" }));
    expect(importLeads(store.leads, number, [lead], { createPixels: false })).toMatchObject([{ kind: "rejected" }]);
    expect(pageOf(store, number)).toEqual([]);
    expect(importLeads(store.leads, number, [lead])).toMatchObject([{ kind: "imported" }]);
    expect(store.served.pixels.list(number)).toEqual([{ id: "px_new", status: "active" }]);
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
});
