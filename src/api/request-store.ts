/** What a request needs of the database. Requests only read: counts and pages are kept in memory until the server writes them. */
import type { KeyNumber, ReadStore } from "../db/serving.ts";
import type { UsageCounter } from "../db/usage-counter.ts";
import type { DisclosedPage } from "../privacy/disclosures/ledger.ts";

/** What a request reads, where it is counted, and where its page is recorded. */
export interface RequestStore extends ReadStore {
  readonly usage: UsageCounter;
  readonly disclosures: {
    /** Notes a page that is answered; it is in the ledger a second later at the latest. */
    note(key: KeyNumber, page: DisclosedPage, nowMs: number): void;
  };
}
