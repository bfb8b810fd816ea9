/** Accounts, pixels, keys, and usage: what a command writes, and what a server reads. */
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
  expect(store.served.isEmpty()).toBe(true);
  accountIn(store);
  expect(store.served.isEmpty()).toBe(false);
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

test("a pixel exists once in its account, in the order of creation, with the status that it was given last", () => {
  const store = openStores();
  const [one, other] = [accountIn(store, "one").number, accountIn(store, "other").number];
  for (const id of ["px_b", "px_a"]) expect(store.pixels.create(one, { id, status: "active" }, 0)).toBe(true);
  expect(store.pixels.create(one, { id: "px_a", status: "paused" }, 0)).toBe(false);
  expect(store.pixels.setStatus(one, { id: "px_b", status: "paused" })).toBe(true);
  expect(store.pixels.setStatus(other, { id: "px_b", status: "paused" })).toBe(false);
  expect(store.served.pixels.list(one)).toEqual([
    { id: "px_b", status: "paused" },
    { id: "px_a", status: "active" },
  ]);
  expect([store.served.pixels.has(one, "px_a"), store.served.pixels.has(other, "px_a")]).toEqual([true, false]);
});

test("a key is found by its digest, with the subscription of its account", () => {
  const store = openStores();
  const { number } = accountIn(store);
  const { digest, record } = keyIn(store, number, "reporting");
  expect(record).toMatchObject({ label: "reporting", createdMs: noonMs, revokedMs: null, lastUsed: null });
  const known = { account: number, prefix: record.prefix, revokedMs: null, subscribed: true };
  expect(store.served.keys.find(digest)).toMatchObject(known);
  store.accounts.setActive(number, false, noonMs);
  expect(store.served.keys.find(digest)).toMatchObject({ ...known, subscribed: false });
  expect(store.served.keys.find(digestOf("lf_other"))).toBeNull();
  expect(store.keys.findByDigest(digest)).toEqual(record);
  expect(store.keys.findByDigest(digestOf("lf_other"))).toBeNull();
});

test("a revocation is final, is seen by the next reading, and keeps its first timestamp", () => {
  const store = openStores();
  const { number } = accountIn(store);
  const { digest, record } = keyIn(store, number);
  expect(store.keys.revoke(record.id, noonMs + 1)).toMatchObject({ id: record.id, revokedMs: noonMs + 1 });
  expect(store.served.keys.find(digest)?.revokedMs).toBe(noonMs + 1);
  expect(store.keys.revoke(record.id, noonMs + 2)?.revokedMs).toBe(noonMs + 1);
  expect(store.keys.revoke("key_nobodys", noonMs)).toBeNull();
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
