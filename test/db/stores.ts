/** The stores that there are: what one must do, each must do. */
import { onTestFinished } from "bun:test";
import { join } from "node:path";
import { openServedStore } from "../../src/served-store.ts";
import { openAdminStore } from "../support/admin-store.ts";
import { aFolder } from "../support/folder.ts";
import { openModel } from "./model.ts";
import type { StoreUnderTest } from "./store-under-test.ts";

/** The two connections of a server and a command that run at once. */
export function openSqlite(path = join(aFolder(), "leadfile.db")): StoreUnderTest {
  const admin = openAdminStore(path);
  const served = openServedStore(path);
  onTestFinished(() => {
    admin.close();
    served.close();
  });
  return { accounts: admin.accounts, pixels: admin.pixels, keys: admin.keys, leads: admin.leads, served };
}

export const stores: [name: string, open: () => StoreUnderTest][] = [
  ["SQLite", () => openSqlite()],
  ["the model", openModel],
];

/** An account in a store. */
export function accountIn(store: Pick<StoreUnderTest, "accounts">, name = "Harbor & Pine") {
  const account = store.accounts.create(name, 0);
  if (account === null) throw new Error("the name was taken");
  return account;
}
