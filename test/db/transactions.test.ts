/** Long transactions of an import, which end as soon as another writer requests the lock. */

import { Database } from "bun:sqlite";
import { expect, onTestFinished, test } from "bun:test";
import { appendFileSync, copyFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { sql } from "drizzle-orm";
import { formatTime } from "../../src/contract/time.ts";
import { listImports } from "../../src/db/imports.ts";
import { takeLock } from "../../src/db/locks.ts";
import { openConnection } from "../../src/db/open.ts";
import { addedBytes, inTransactions, type Work } from "../../src/db/transactions.ts";
import { prepareWriter } from "../../src/db/writer.ts";
import { openServedStore } from "../../src/server/store.ts";
import { aLead, newLead, noonMs } from "../support/builders.ts";
import { anAccount, openTestDatabase } from "../support/database.ts";
import { aFolder } from "../support/folder.ts";
import { imported } from "./importing.ts";

interface Plan {
  readonly steps?: number;
  /** The bytes that each step writes. */
  readonly bytes?: number;
  /** The steps in which another program requests the lock. */
  readonly requestedIn?: readonly number[];
  readonly stoppedIn?: number;
  readonly stepMs?: number;
  readonly path?: string;
}

/** A tenth of the limits takes a tenth of the time. */
const limits = { first: addedBytes.first / 10, max: addedBytes.max / 10 };

const aPath = () => join(aFolder(), "leadfile.db");

/** Runs steps, each of which writes its number. Returns the steps of each transaction that began, and the steps stored. */
async function run({ steps = 10, bytes = 1, requestedIn = [], stoppedIn = 0, stepMs = 0, path = aPath() }: Plan) {
  const database = prepareWriter(openConnection(path));
  onTestFinished(() => database.$client.close());
  database.run(sql`CREATE TABLE steps (number INTEGER PRIMARY KEY, content BLOB)`);
  const transactions: number[][] = [];
  const requests = [...requestedIn];
  let [done, committed, logBytes] = [0, 0, 0];
  const work: Work = {
    begin() {
      transactions.push([]);
      committed = done;
    },
    step() {
      done++;
      Bun.sleepSync(stepMs);
      transactions.at(-1)?.push(done);
      database.run(sql`INSERT INTO steps VALUES (${done}, zeroblob(${bytes}))`);
      if (requests[0] === done) {
        requests.shift();
        appendFileSync(`${path}.asking`, ".");
      }
      return done < steps;
    },
    end: () => undefined,
    rollBack() {
      done = committed;
    },
    isStopping: () => done === stoppedIn,
  };
  const running = inTransactions(database, work, limits);
  for await (const _ of running) logBytes = Math.max(logBytes, statSync(`${path}-wal`).size);
  const stored = database.values<[number]>(sql`SELECT number FROM steps`).flat();
  return { transactions, stored, logBytes };
}

const oneTo = (last: number) => Array.from({ length: last }, (_, index) => index + 1);

test.each<[string, Plan, number[][]]>([
  ["ends when another program requests the lock", { requestedIn: [2, 3, 7] }, [[1, 2], [3], [4, 5, 6, 7], [8, 9, 10]]],
  ["continues while nobody requests the lock", {}, [oneTo(10)]],
  ["is committed when the import is stopped", { stoppedIn: 4 }, [oneTo(4), oneTo(10).slice(4)]],
])("a transaction %s, and no step is lost or done twice", async (_, plan, expected) => {
  const { transactions, stored } = await run(plan);
  expect(transactions).toEqual(expected);
  expect(stored).toEqual(oneTo(10));
});

test("next to a server, a transaction ends after two seconds, and programs that cannot request the lock can write", async () => {
  const path = aPath();
  const release = takeLock(path);
  onTestFinished(() => release?.());
  const running = run({ path, steps: 30, stepMs: 100 });
  const other = new Database(path);
  onTestFinished(() => other.close());
  other.run("PRAGMA busy_timeout = 0");
  // SQLite waits for a lock in the same way.
  const write = async (tries: number): Promise<void> => {
    try {
      other.run("INSERT INTO steps VALUES (100, NULL)");
    } catch {
      await Bun.sleep(100);
      if (tries > 0) await write(tries - 1);
    }
  };
  await write(50);
  const { transactions, stored } = await running;
  expect(transactions.length).toBeGreaterThan(1);
  expect(stored).toEqual([...oneTo(30), 100]);
});

test("a large transaction is rolled back for a writer that requests the lock, and done again", async () => {
  // The first transaction adds up to 12.8 MB to the log, the next one up to 25.6 MB.
  const { transactions, stored } = await run({ steps: 12, bytes: 5_000_000, requestedIn: [8] });
  const [first = [], second = [], third = []] = transactions;
  expect(second.at(-1)).toBe(8);
  expect(third[0]).toBe((first.at(-1) ?? 0) + 1);
  expect(stored).toEqual(oneTo(12));
});

test("the log stays below 1 GB, or a tenth of it with a tenth of the limits", async () => {
  const { stored, logBytes } = await run({ steps: 60, bytes: 5_000_000 });
  expect(stored).toEqual(oneTo(60));
  expect(logBytes).toBeLessThan(100_000_000);
});

test("an import ends with a checkpoint, so that no request waits for one", async () => {
  const path = aPath();
  const [database, server] = [openTestDatabase(path), openServedStore(path)];
  onTestFinished(() => {
    database.close();
    return server.close();
  });
  const account = anAccount(database);
  const leads = Array.from({ length: 3_000 }, (_, index) =>
    newLead(aLead({ id: crypto.randomUUID(), identified_at: formatTime(noonMs - index) })),
  );
  await imported(database, account, leads);
  const withoutLog = aPath();
  copyFileSync(path, withoutLog);
  const copy = openTestDatabase(withoutLog);
  onTestFinished(() => copy.close());
  expect(listImports(copy.read, account.number)).toMatchObject([{ imported: leads.length }]);
});
