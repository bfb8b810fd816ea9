/** What every store reads of its leads: a page, and the export. */
import { describe, expect, test } from "bun:test";
import { importLeads, newLead, someLeads } from "../support/builders.ts";
import { everything, textOf } from "./pages.ts";
import { accountIn, stores } from "./stores.ts";

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
});
