/** Accounts, keys, and usage: what a command writes, and what a server reads. */
import { expect, test } from "bun:test";
import { createKey, digestOf, prefixOf } from "../../src/contract/key.ts";
import { noonMs } from "../support/builders.ts";
import { accountIn, openStores, type Stores } from "./stores.ts";

function keyIn(store: Stores, account: number, label: string | null = null) {
  const secret = createKey();
  const digest = digestOf(secret);
  return { digest, record: store.keys.create(account, { digest, prefix: prefixOf(secret), label }, noonMs) };
}

test("lists the keys of an account in order of creation, and no other keys", () => {
  const store = openStores();
  const [one, other] = [accountIn(store, "one").number, accountIn(store, "other").number];
  const made = [keyIn(store, one), keyIn(store, other), keyIn(store, one)].map(({ record }) => record.id);
  expect(store.keys.list(one).map(({ id }) => id)).toEqual([made[0], made[2]] as string[]);
});

test("counts usage by key, UTC day, and month, and shows the last day of use", () => {
  const store = openStores();
  const { number } = accountIn(store);
  const [one, other] = [keyIn(store, number), keyIn(store, number)];
  const key = store.served.keys.find(one.digest)?.number ?? -1;
  for (const time of ["2026-01-31T23:59:59.999Z", "2026-02-01T00:00:00.000Z", "2026-02-02T10:00:00.000Z"]) {
    store.served.usage.count(key, Date.parse(time));
  }
  const of = (time: string) => store.served.usage.of(key, Date.parse(time));
  expect(of("2026-01-31T00:00:00.000Z")).toEqual({ today: 1, month: 1 });
  expect(of("2026-02-02T23:00:00.000Z")).toEqual({ today: 1, month: 2 });
  expect(of("2026-02-03T00:00:00.000Z")).toEqual({ today: 0, month: 2 });
  for (let flushed = store.served.flush(); flushed !== "idle"; flushed = store.served.flush()) {
    expect(flushed).not.toBe("locked");
  }
  expect(of("2026-02-02T23:00:00.000Z")).toEqual({ today: 1, month: 2 });
  expect(of("2026-01-31T00:00:00.000Z")).toEqual({ today: 1, month: 1 });
  expect(store.keys.list(number).map(({ lastUsed }) => lastUsed)).toEqual(["2026-02-02", null]);
  const idle = store.served.keys.find(other.digest)?.number ?? -1;
  expect(store.served.usage.of(idle, noonMs)).toEqual({ today: 0, month: 0 });
});
