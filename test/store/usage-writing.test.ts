/** Usage on its way to the file: nothing is lost, and nobody waits for another writer. */

import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { join } from "node:path";
import { openDatabase } from "../../src/sqlite/open.ts";
import { aFolder } from "../folder.ts";
import { serve } from "../harness.ts";

test("while another program writes, requests are answered and their counts are kept until they can be written", async () => {
  const { as, aKey, store, file } = await serve();
  const client = as(aKey());
  await client.get("/leads");
  using other = new Database(file);
  other.run("BEGIN IMMEDIATE");
  const startedMs = performance.now();
  expect(store.flush()).toBe(false);
  expect((await client.get("/usage")).body.requests_today).toBe(2);
  expect(performance.now() - startedMs).toBeLessThan(1_000);
  other.run("COMMIT");
  expect(store.flush()).toBe(true);
  const written = other.query<{ requests: number }, []>("SELECT requests FROM usage").all();
  expect(written).toEqual([{ requests: 2 }]);
});

test("a commit is on disk before it is reported, and readers never wait for the writer", () => {
  const database = openDatabase(join(aFolder(), "leadfile.db"));
  const setting = (name: string) => database.$client.query(`PRAGMA ${name}`).values()[0]?.[0];
  expect([setting("synchronous"), setting("journal_mode"), setting("foreign_keys")]).toEqual([2, "wal", 1]);
  database.$client.close();
});

test("what is deleted is written over, and nothing is sorted in a file that stays behind", () => {
  const database = openDatabase(join(aFolder(), "leadfile.db"));
  const setting = (name: string) => database.$client.query(`PRAGMA ${name}`).values()[0]?.[0];
  const inMemory = 2;
  expect([setting("secure_delete"), setting("temp_store")]).toEqual([1, inMemory]);
  database.$client.close();
});

test("what was counted is in the file after the store was closed", async () => {
  const { as, aKey, stop, file } = await serve();
  const client = as(aKey());
  await client.get("/leads");
  await client.get("/leads");
  await stop();
  using closed = new Database(file);
  expect(closed.query<{ requests: number }, []>("SELECT requests FROM usage").all()).toEqual([{ requests: 2 }]);
});
