/** What every store takes only if it is told to: a new pixel, and the import itself. */
import { describe, expect, onTestFinished, test } from "bun:test";
import { join } from "node:path";
import { imported } from "../db/importing.ts";
import { pageOf } from "../db/pages.ts";
import { accountIn, stores } from "../db/stores.ts";
import { openAdminStore } from "../support/admin-store.ts";
import { aLead, importLeads, newLead } from "../support/builders.ts";
import { aFolder } from "../support/folder.ts";

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
});

test("a dry run ends as the import would, and leaves nothing behind", async () => {
  const store = openAdminStore(join(aFolder(), "leadfile.db"));
  onTestFinished(() => store.close());
  const account = accountIn(store);
  const there = aLead();
  await imported(store, account, [newLead(there)]);
  const before = [...store.leads.export(account.number)];
  const leads = [there, aLead({ pixel_id: "px_new" }), aLead({ identified_at: there.identified_at })].map(newLead);
  const options = { onDuplicate: "skip", createPixels: true } as const;
  const tried = await imported(store, account, leads, { options: { ...options, dryRun: true } });
  expect(tried).toMatchObject({ read: 3, duplicates: 1, imported: 2, moved: 2, late: 0 });
  expect([...store.leads.export(account.number)]).toEqual(before);
  expect(store.pixels.list(account.number)).toEqual([{ id: "px_site", status: "active" }]);
  expect(await imported(store, account, leads, { options })).toEqual(tried);
});
