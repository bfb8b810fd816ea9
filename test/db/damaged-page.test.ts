/** A file of which a part is damaged: who asks for that part is told, and nobody else. */
import { Database } from "bun:sqlite";
import { expect, onTestFinished, test } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { toLeadQuery } from "../../src/contract/parameters.ts";
import { QueryFailed } from "../../src/db/failure.ts";
import { openServedStore } from "../../src/served-store.ts";
import { someLeads } from "../support/builders.ts";
import { serve } from "../support/harness.ts";

test("a page of the file that is damaged fails who asks for it, and nobody after him", async () => {
  const leads = someLeads(500);
  const { file, account, stop } = await serve({ leads });
  await stop();
  damageSomeLeads(file);
  const store = openServedStore(file);
  onTestFinished(() => store.close());
  const failed = leads.map((lead) => {
    const query = toLeadQuery({ limit: 1, before: lead.identified_at });
    try {
      store.leads.page(account.number, query);
      return false;
    } catch (failure) {
      expect(failure).toBeInstanceOf(QueryFailed);
      return true;
    }
  });
  expect(new Set(failed)).toEqual(new Set([true, false]));
  expect(failed.lastIndexOf(false)).toBeGreaterThan(failed.indexOf(true));
});

/** Makes a page of leads in the middle of the file one that SQLite cannot read. */
function damageSomeLeads(file: string): void {
  using tool = new Database(file);
  tool.run("PRAGMA wal_checkpoint(TRUNCATE)");
  const pageBytes = 8192;
  const bytes = readFileSync(file);
  const pages = Array.from({ length: bytes.length / pageBytes }, (_, page) => page * pageBytes).filter(
    (at) => bytes[at] === 0x0d && bytes.subarray(at, at + pageBytes).includes('"identified_at"'),
  );
  const middle = pages[Math.floor(pages.length / 2)];
  if (middle === undefined) throw new Error("the file has no page of leads");
  writeFileSync(file, bytes.fill(0, middle, middle + 8));
}
