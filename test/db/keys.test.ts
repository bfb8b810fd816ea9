/** What every store does with keys and their usage. */
import { describe, expect, test } from "bun:test";
import { createKey, digestOf, prefixOf } from "../../src/contract/key.ts";
import { noonMs } from "../support/builders.ts";
import type { StoreUnderTest } from "./store-under-test.ts";
import { accountIn, stores } from "./stores.ts";

function keyIn(store: StoreUnderTest, account: number, label: string | null = null) {
  const secret = createKey();
  const digest = digestOf(secret);
  return { digest, record: store.keys.create(account, { digest, prefix: prefixOf(secret), label }, noonMs) };
}

describe.each(stores)("in %s", (_, open) => {
  test("a key is found by its digest, with the subscription of its account", () => {
    const store = open();
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

  test("a revocation is final, is seen by the next reading, and keeps its first moment", () => {
    const store = open();
    const { number } = accountIn(store);
    const { digest, record } = keyIn(store, number);
    expect(store.keys.revoke(record.id, noonMs + 1)).toMatchObject({ id: record.id, revokedMs: noonMs + 1 });
    expect(store.served.keys.find(digest)?.revokedMs).toBe(noonMs + 1);
    expect(store.keys.revoke(record.id, noonMs + 2)?.revokedMs).toBe(noonMs + 1);
    expect(store.keys.revoke("key_nobodys", noonMs)).toBeNull();
  });

  test("the keys of an account are listed in the order of creation, and those of others are not", () => {
    const store = open();
    const [one, other] = [accountIn(store, "one").number, accountIn(store, "other").number];
    const made = [keyIn(store, one), keyIn(store, other), keyIn(store, one)].map(({ record }) => record.id);
    expect(store.keys.list(one).map(({ id }) => id)).toEqual([made[0], made[2]] as string[]);
  });

  test("usage is counted by key, UTC day and month, and a key shows the last day it was used", () => {
    const store = open();
    const { number } = accountIn(store);
    const [one, other] = [keyIn(store, number), keyIn(store, number)];
    const key = store.served.keys.find(one.digest)?.number ?? -1;
    for (const moment of ["2026-01-31T23:59:59.999Z", "2026-02-01T00:00:00.000Z", "2026-02-02T10:00:00.000Z"]) {
      store.served.usage.count(key, Date.parse(moment));
    }
    const of = (moment: string) => store.served.usage.of(key, Date.parse(moment));
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
});
