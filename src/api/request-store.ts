/** The store as a request uses it: reads, and records in memory that the server writes later. */
import type { KeyNumber } from "../db/keys.ts";
import type { Reader } from "../db/reader.ts";
import type { CountedUsage } from "../db/usage.ts";
import type { DisclosedPage } from "../privacy/disclosures/pending-pages.ts";

/**
 * The store as a request uses it: reads, and in-memory records of usage and disclosures that the server writes later.
 */
export interface RequestStore extends Omit<Reader, "close"> {
  /** The clock, if it is not that of this machine: the servers of a cluster agree on the time. */
  readonly now?: () => number;
  /** Further metrics, such as the lease of a server in a cluster. */
  readonly gauges?: readonly StoreGauge[];
  readonly usage: Pick<CountedUsage, "count" | "of">;
  readonly disclosures: {
    /** Records a page that is answered; it is in the ledger a second later at the latest. */
    note(key: KeyNumber, page: DisclosedPage, nowMs: number): void;
  };
}

/** A metric of /metrics. */
export interface StoreGauge {
  readonly name: string;
  readonly help: string;
  /** The current value; null omits the metric. */
  readonly read: () => number | null;
}
