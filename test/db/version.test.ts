/** The version of the store: another one once others have written, so that nothing is answered from before. */
import { expect, test } from "bun:test";
import { rmSync } from "node:fs";
import { digestOf } from "../../src/contract/key.ts";
import { QueryFailed } from "../../src/db/failure.ts";
import { aLead } from "../support/builders.ts";
import { eventually } from "../support/eventually.ts";
import { serve } from "../support/harness.ts";

test("the version is another one after another program has revoked a key", async () => {
  const { store, aKeyRecord, admin } = await serve();
  const { id, secret } = aKeyRecord();
  const isRevoked = () => store.keys.find(digestOf(secret))?.revokedMs !== null;
  const before = store.version();
  expect([isRevoked(), store.version()]).toEqual([false, before]);
  admin.keys.revoke(id, 0);
  expect(store.version()).not.toBe(before);
  expect(isRevoked()).toBe(true);
});

test("the version is another one after others have written, and the same after counts of the server's own", async () => {
  const { store, aKey, importMore } = await serve();
  const { number } = store.keys.find(digestOf(aKey())) ?? { number: -1 };
  const before = store.version();
  store.usage.count(number, 0);
  expect(store.flush()).toBe("done");
  expect(store.version()).toBe(before);
  importMore([aLead()]);
  expect(store.version()).not.toBe(before);
});

test("a file that is gone fails every question for the version", async () => {
  const { store, file } = await serve();
  store.version();
  rmSync(file);
  // Questions within some milliseconds share one look at the file.
  await eventually(async () => expect(() => store.version()).toThrow(QueryFailed));
  for (let look = 0; look < 3; look++) expect(() => store.version()).toThrow(QueryFailed);
});
