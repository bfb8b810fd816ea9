/** What an import sends to all nodes: each looks at as many leads as the step has, however many the account has. */
import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { statementsOf } from "../../src/rqlite/import/plan-statements.ts";
import { anAdmin } from "../../test/admin.ts";

test("no statement of a step goes through the leads of the account", () => {
  const { file } = anAdmin(["acme"]);
  using database = new Database(file, { readonly: true });
  const lead = { id: crypto.randomUUID(), atMs: 1, pixel: 1, state: null, cityKey: null, hasEmail: false, doc: "{}" };
  const premises = { blocks: 0, retainDays: null, there: [crypto.randomUUID()], newestMs: 1 };
  const statements = statementsOf(
    { outcomes: [], added: [lead], replaced: [lead], premises },
    { account: 1, batch: 1, isThere: true },
  );
  expect(statements).toHaveLength(3);
  const steps = statements.flatMap(({ sql, json }) =>
    database.query<{ detail: string }, [string]>(`EXPLAIN QUERY PLAN ${sql}`).all(json),
  );
  const details = steps.map(({ detail }) => detail);
  const reads = details.filter((detail) => /\b(lead|stored_leads)\b/.test(detail));
  // One lead by its id, one by its place, and the newest by the index of times.
  expect(reads).toContain("SEARCH lead USING INDEX leads_by_uuid (account=? AND uuid=?)");
  expect(reads).toContain("SEARCH stored_leads USING INTEGER PRIMARY KEY (rowid=?)");
  const whole = reads.filter((detail) => /^SCAN|\(account=\?\)/.test(detail));
  expect(whole.filter((detail) => !detail.includes("leads_by_time"))).toEqual([]);
});
