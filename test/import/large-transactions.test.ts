/** Whoever writes much ends a transaction early when another writer asks, and goes on where nobody does. */
import { expect, onTestFinished, spyOn, test } from "bun:test";
import { appendFileSync, copyFileSync } from "node:fs";
import { join } from "node:path";
import { writeMoment } from "../../src/contract/time.ts";
import { openAdminStore } from "../../src/db/admin-store.ts";
import { inLargeTransactions } from "../../src/db/locks/large-transactions.ts";
import { openAgain } from "../../src/db/open.ts";
import { openServedStore } from "../../src/db/served-store.ts";
import { pagesUntilCopied } from "../../src/db/wal.ts";
import { imported } from "../db/importing.ts";
import { aLead, newLead, noonMs } from "../support/builders.ts";
import { aFolder } from "../support/folder.ts";

/** The portions of each transaction, of ten in all. The clock moves on by so much whenever it is looked at. */
async function writeTen(clockStepMs: number, askedIn: readonly number[]): Promise<number[][]> {
  let nowMs = 0;
  const clock = spyOn(performance, "now").mockImplementation(() => (nowMs += clockStepMs));
  const path = join(aFolder(), "leadfile.db");
  const database = openAgain(path);
  onTestFinished(() => {
    clock.mockRestore();
    database.$client.close();
  });
  const transactions: number[][] = [];
  let portion = 0;
  const writing = inLargeTransactions(database, {
    begin: () => void transactions.push([]),
    step() {
      transactions.at(-1)?.push(++portion);
      if (askedIn.includes(portion)) appendFileSync(`${path}.asking`, ".");
      return portion < 10;
    },
    end: () => undefined,
  });
  for await (const _ of writing);
  return transactions;
}

test("a transaction ends with the portion in which somebody asks, and the next one takes up there", async () => {
  expect(await writeTen(0, [2, 3, 7])).toEqual([[1, 2], [3], [4, 5, 6, 7], [8, 9, 10]]);
});

test("where nobody asks, a transaction goes on for two seconds", async () => {
  expect(await writeTen(500, [])).toEqual([
    [1, 2, 3, 4],
    [5, 6, 7, 8],
    [9, 10],
  ]);
});

test("at its end everything lies in the file itself, so that no server has to copy it while requests wait", async () => {
  const path = join(aFolder(), "leadfile.db");
  const [store, server] = [openAdminStore(path), openServedStore(path)];
  onTestFinished(() => {
    store.close();
    return server.close();
  });
  const account = store.accounts.create("acme", noonMs);
  if (account === null) throw new Error("the name was taken");
  const leads = Array.from({ length: 3_000 }, (_, index) =>
    newLead(aLead({ id: crypto.randomUUID(), identified_at: writeMoment(noonMs - index) })),
  );
  await imported(store, account, leads);
  const withoutLog = join(aFolder(), "leadfile.db");
  copyFileSync(path, withoutLog);
  const copy = openAdminStore(withoutLog);
  onTestFinished(() => copy.close());
  expect(copy.imports.list(account)).toMatchObject([{ imported: leads.length }]);
});

test("a server copies the log later than whoever writes much, which so does it first", () => {
  expect(pagesUntilCopied.byServer).toBeGreaterThan(pagesUntilCopied.byWriter);
});
