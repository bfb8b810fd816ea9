/** Requests that are answered together: the store is looked at once for all of them, and stands still meanwhile. */
import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { rmSync } from "node:fs";
import { digestOf } from "../../src/contract/key.ts";
import { readLeadQuery } from "../../src/contract/parameters.ts";
import { StoreFailure } from "../../src/store/serving.ts";
import { aLead } from "../builders.ts";
import { serve } from "../harness.ts";

const firstPage = readLeadQuery("");

/** `ask` tells what a request learns: whether its key is revoked, and how many leads there are. */
async function aServer() {
  const server = await serve({ leads: [aLead()] });
  const { id, secret } = server.aKeyRecord();
  const ask = () => ({
    revoked: server.store.keys.find(digestOf(secret))?.revoked,
    leads: server.store.leads.page(server.account.number, firstPage).documents.length,
  });
  return { ...server, revoke: () => server.admin.keys.revoke(id, 0), ask };
}

test("what others write meanwhile is seen after it, a revocation and a lead alike", async () => {
  const { store, revoke, importMore, ask } = await aServer();
  store.together(() => {
    expect(ask()).toEqual({ revoked: false, leads: 1 });
    revoke();
    importMore([aLead()]);
    expect(ask()).toEqual({ revoked: false, leads: 1 });
  });
  expect(ask()).toEqual({ revoked: true, leads: 2 });
});

test("what others wrote before it is seen by the first who asks", async () => {
  const { store, revoke, ask } = await aServer();
  expect(ask().revoked).toBe(false);
  const before = store.version();
  revoke();
  store.together(() => {
    expect(ask().revoked).toBe(true);
    expect(store.version()).not.toBe(before);
  });
});

test("it holds nobody up afterwards, though what was asked failed", async () => {
  const { store, file, ask } = await aServer();
  expect(() =>
    store.together(() => {
      ask();
      throw new Error("asked in vain");
    }),
  ).toThrow("asked in vain");
  using other = new Database(file);
  other.run("PRAGMA busy_timeout = 0");
  expect(other.query<{ busy: number }, []>("PRAGMA wal_checkpoint(TRUNCATE)").get()?.busy).toBe(0);
  expect(ask().revoked).toBe(false);
});

test("everybody is told that the file is gone, and each for himself", async () => {
  const { store, file, ask } = await aServer();
  expect(ask().revoked).toBe(false);
  rmSync(file);
  await Bun.sleep(5);
  let failures = 0;
  store.together(() => {
    for (let client = 0; client < 3; client++) {
      try {
        ask();
      } catch (failure) {
        if (failure instanceof StoreFailure) failures++;
      }
    }
  });
  expect(failures).toBe(3);
});
