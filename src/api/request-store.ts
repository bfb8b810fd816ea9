/** The store as a request uses it: reads, and records in memory that the server writes later. */
import type { Reader } from "../db/reader.ts";
import type { Outbox } from "../privacy/sent/outbox.ts";

/** The store as a request uses it: reads, and in-memory records of usage and of sent leads, which the server writes later. */
export interface RequestStore extends Omit<Reader, "close"> {
  /** The clock, if it is not that of this machine: the servers of a cluster agree on the time. */
  readonly now?: () => number;
  /** Further metrics, such as the lease of a server in a cluster. */
  readonly gauges?: readonly StoreGauge[];
  readonly usage: Pick<Outbox, "count" | "of">;
  readonly sent: Pick<Outbox, "note">;
}

/** A metric of /metrics. */
export interface StoreGauge {
  readonly name: string;
  readonly help: string;
  /** The current value; null omits the metric. */
  readonly read: () => number | null;
}
