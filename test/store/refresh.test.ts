/** What others write to the file: a look tells, and until then what was read stays as it was. */
import { expect, test } from "bun:test";
import { rmSync } from "node:fs";
import { digestOf } from "../../src/contract/key.ts";
import { QueryFailed } from "../../src/store/reading.ts";
import { aLead } from "../builders.ts";
import { eventually } from "../eventually.ts";
import { serve } from "../harness.ts";

test("a key that another program revoked is known as revoked from the next look on", async () => {
  const { store, aKeyRecord, admin } = await serve();
  const { id, secret } = aKeyRecord();
  const isRevoked = () => store.keys.find(digestOf(secret))?.revoked;
  expect(isRevoked()).toBe(false);
  admin.keys.revoke(id, 0);
  expect(isRevoked()).toBe(false);
  store.refresh();
  expect(isRevoked()).toBe(true);
});

test("the version is another one after others have written, and the same after counts of the server's own", async () => {
  const { store, aKey, importMore } = await serve();
  const { number } = store.keys.find(digestOf(aKey())) ?? { number: -1 };
  store.refresh();
  const before = store.version();
  store.usage.count(number, 0);
  expect(store.flush()).toBe("done");
  store.refresh();
  expect(store.version()).toBe(before);
  importMore([aLead()]);
  expect(store.version()).toBe(before);
  store.refresh();
  expect(store.version()).not.toBe(before);
});

test("a file that is gone fails every look", async () => {
  const { store, file } = await serve();
  store.refresh();
  rmSync(file);
  // Looks within some milliseconds share one.
  await eventually(async () => expect(() => store.refresh()).toThrow(QueryFailed));
  for (let look = 0; look < 3; look++) expect(() => store.refresh()).toThrow(QueryFailed);
});
