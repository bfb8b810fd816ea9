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

test("a new store has no accounts", () => {
  const store = openStores();
  expect(store.served.probe()).toBe(false);
  accountIn(store);
  expect(store.served.probe()).toBe(true);
});

test("an account is found by its ID or by its exact name, which only one can have", () => {
  const store = openStores();
  const account = accountIn(store, "Harbor & Pine");
  expect({ ...account }).toMatchObject({ name: "Harbor & Pine", active: true, id: expect.stringMatching(/^acc_\w+$/) });
  expect(store.accounts.create("Harbor & Pine", 0)).toBeNull();
  expect(store.accounts.create("harbor & pine", 0)?.id).not.toBe(account.id);
  expect(store.accounts.find(account.id)).toEqual(account);
  expect(store.accounts.find("Harbor & Pine")).toEqual(account);
  expect(store.accounts.find("Harbor")).toBeNull();
  expect(store.accounts.list().map(({ name }) => name)).toEqual(["Harbor & Pine", "harbor & pine"]);
});

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
