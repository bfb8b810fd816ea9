/** What every store does with accounts and their pixels. */
import { describe, expect, test } from "bun:test";
import { accountIn, stores } from "./stores.ts";

describe.each(stores)("in %s", (_, open) => {
  test("a store is empty until it has an account", () => {
    const store = open();
    expect(store.served.isEmpty()).toBe(true);
    accountIn(store);
    expect(store.served.isEmpty()).toBe(false);
  });

  test("a new account has an active subscription and an id of its own, and its name is taken", () => {
    const store = open();
    const account = accountIn(store, "Harbor");
    expect(account).toMatchObject({ name: "Harbor", active: true, id: expect.stringMatching(/^acc_\w+$/) });
    expect(store.accounts.create("Harbor", 0)).toBeNull();
    expect(store.accounts.create("harbor", 0)?.id).not.toBe(account.id);
  });

  test("an account is found by its id or by its exact name", () => {
    const store = open();
    const account = accountIn(store, "Harbor & Pine");
    accountIn(store, "Other");
    expect(store.accounts.find(account.id)).toEqual(account);
    expect(store.accounts.find("Harbor & Pine")).toEqual(account);
    expect(store.accounts.find("Harbor")).toBeNull();
    expect(store.accounts.list().map(({ name }) => name)).toEqual(["Harbor & Pine", "Other"]);
  });

  test("a pixel is there once in its account, in the order of creation, with the status it was last given", () => {
    const store = open();
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
});
