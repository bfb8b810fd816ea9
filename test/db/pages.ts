/** Pages of a store, asked for directly. */
import type { Lead } from "../../src/contract/lead.ts";
import type { LeadQuery } from "../../src/contract/parameters.ts";
import type { StoreUnderTest } from "./store-under-test.ts";

/** No filter at all. */
export const everything: LeadQuery = {
  limit: 100,
  beforeMs: null,
  sinceMs: null,
  pixelId: null,
  state: null,
  city: null,
  hasEmail: false,
};

/** A document as it is stored. */
export const textOf = (document: Uint8Array): string => Buffer.from(document).toString();

/** The leads of a page. */
export const pageOf = (store: StoreUnderTest, account: number, query: Partial<LeadQuery> = {}): Lead[] =>
  store.served.leads
    .page(account, { ...everything, ...query })
    .documents.map((document) => JSON.parse(textOf(document)));
