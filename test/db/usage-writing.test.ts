/** Usage on its way to the file: nothing is lost, and nobody waits for another writer. */
import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { statSync } from "node:fs";
import { join } from "node:path";
import { dayMs } from "../../src/contract/calendar.ts";
import { lockWaitMs } from "../../src/db/locks.ts";
import { openDatabase } from "../../src/db/open.ts";
import { aLead, noonMs } from "../support/builders.ts";
import { least } from "../support/eventually.ts";
import { aFolder } from "../support/folder.ts";
import { serve } from "../support/harness.ts";

test("while another program writes, requests are answered and their counts are kept in memory", async () => {
  const { as, aKey, store, file } = await serve({ leads: [aLead()] });
  const client = as(aKey());
  await client.get("/leads");
  using other = new Database(file);
  other.run("BEGIN IMMEDIATE");
  // A flush that waited for the other program would wait to the end each time: that goes on in this thread.
  const flushing = async () => {
    const startedMs = performance.now();
    expect(store.flush()).toBe("locked");
    return performance.now() - startedMs;
  };
  expect(await least(lockWaitMs.toWrite / 2, flushing, 3)).toBeLessThan(lockWaitMs.toWrite / 2);
  expect((await client.get("/usage")).body.requests_today).toBe(2);
  other.run("COMMIT");
  // The counts that were pending at the first attempt, and then those that came after it.
  expect([store.flush(), store.flush(), store.flush()]).toEqual(["done", "done", "idle"]);
  const written = other.query<{ requests: number }, []>("SELECT requests FROM usage").all();
  expect(written).toEqual([{ requests: 2 }]);
});

test("the server leaves the checkpoint of a large log to the program that wrote it", async () => {
  const file = join(aFolder(), "leadfile.db");
  // Small pages, so that 45 MB are as many as those of a million leads.
  using empty = new Database(file);
  empty.run("PRAGMA page_size = 512");
  empty.run("VACUUM");
  const { as, aKey, store } = await serve({ file });
  const client = as(aKey());
  using other = new Database(file);
  other.run("PRAGMA wal_autocheckpoint = 0");
  other.run("CREATE TABLE rewritten (page BLOB)");
  other.run("BEGIN IMMEDIATE");
  await client.get("/leads");
  expect(store.flush()).toBe("locked");
  other.run("INSERT INTO rewritten VALUES (zeroblob(45000000))");
  other.run("COMMIT");
  const bytes = statSync(file).size;
  expect(store.flush()).toBe("done");
  expect(statSync(file).size).toBe(bytes);
});

test("the counts of many keys are written in batches, and none is lost or repeated", async () => {
  const { file, account, store } = await serve();
  using other = new Database(file);
  const keys = manyKeys(other, account.number, 1200);
  const count = () => {
    for (const key of keys) store.usage.count(key, noonMs);
  };
  const written = () => other.query("SELECT count(*), sum(requests) FROM usage").values()[0];
  count();
  count();
  expect([store.flush(), written()]).toEqual(["more", [500, 1000]]);
  // What comes while they are written waits for the next time, or it would never end.
  count();
  expect(keys.filter((key) => store.usage.of(key, noonMs).today !== 3)).toEqual([]);
  expect([store.flush(), store.flush(), written()]).toEqual(["more", "done", [1200, 2400]]);
  expect([store.flush(), store.flush(), store.flush(), written()]).toEqual(["more", "more", "done", [1200, 3600]]);
  expect(store.flush()).toBe("idle");
});

test("a stopping server writes all batches, including those of the day before", async () => {
  const { file, account, store, stop } = await serve();
  using other = new Database(file);
  for (const key of manyKeys(other, account.number, 600)) {
    store.usage.count(key, noonMs);
    store.usage.count(key, noonMs + dayMs);
  }
  await stop();
  expect(other.query("SELECT day, count(*) FROM usage GROUP BY day").values()).toEqual([
    ["2026-02-01", 600],
    ["2026-02-02", 600],
  ]);
});

/** Makes keys that nobody calls with, and says their numbers. */
function manyKeys(database: Database, account: number, count: number): number[] {
  return database
    .query<{ number: number }, [number, string]>(
      `INSERT INTO keys (account, id, digest, prefix, created_at)
       SELECT ?, 'key_' || value, randomblob(32), 'lf_', 0 FROM json_each(?) RETURNING number`,
    )
    .all(account, JSON.stringify(Array.from({ length: count }, (_, n) => n)))
    .map(({ number }) => number);
}

test("a commit is on disk before it is reported, and what is deleted is overwritten and sorted in memory alone", () => {
  const database = openDatabase(join(aFolder(), "leadfile.db"));
  const setting = (name: string) => database.$client.query(`PRAGMA ${name}`).values()[0]?.[0];
  const names = ["synchronous", "journal_mode", "foreign_keys", "secure_delete", "temp_store"];
  const [full, inMemory] = [2, 2];
  expect(names.map(setting)).toEqual([full, "wal", 1, 1, inMemory]);
  database.$client.close();
});
