/** The two connections of a server and a command that run at once, and what tests read of them. */
import { onTestFinished } from "bun:test";
import { join } from "node:path";
import type { Lead } from "../../src/contract/lead.ts";
import type { LeadQuery } from "../../src/contract/parameters.ts";
import { openServedStore } from "../../src/served-store.ts";
import { openAdminStore } from "../support/admin-store.ts";
import { aFolder } from "../support/folder.ts";

export type Stores = ReturnType<typeof openStores>;

export function openStores(path = join(aFolder(), "leadfile.db")) {
  const admin = openAdminStore(path);
  const served = openServedStore(path);
  onTestFinished(() => {
    admin.close();
    served.close();
  });
  return { ...admin, served };
}

/** Creates an account. */
export function accountIn(store: Pick<Stores, "accounts">, name = "Harbor & Pine") {
  const account = store.accounts.create(name, 0);
  if (account === null) throw new Error("the name was taken");
  return account;
}

/** A query without filters. */
const everything = {
  ...{ limit: 100, beforeMs: null, sinceMs: null },
  ...{ pixel_id: null, state: null, city: null, has_email: false },
};

/** The leads of a page. */
export const pageOf = ({ served }: Stores, account: number, query: Partial<LeadQuery> = {}): Lead[] =>
  served.leads
    .page(account, { ...everything, ...query })
    .documents.map((document) => JSON.parse(Buffer.from(document).toString()));
