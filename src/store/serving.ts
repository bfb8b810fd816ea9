/** The port of the server: what its requests need, and what it does beside them from its start to its end. */
import type { DisclosedPage } from "../privacy/disclosures/pages.ts";
import type { Retained } from "../privacy/retention.ts";
import type { KeyNumber, ReadStore } from "./reading.ts";
import type { Flushed, UsageCounter } from "./usage.ts";

/** All that a request needs: what it reads, where it is counted, and where its page is noted. */
export interface RequestStore extends ReadStore {
  readonly usage: UsageCounter;
  readonly disclosures: {
    /** Notes a page that is answered; it is in the ledger a second later at the latest. */
    note(key: KeyNumber, page: DisclosedPage, nowMs: number): void;
  };
}

/** What the server needs of the store besides: counts go to the disk while it runs, and all of them when it stops. */
export interface ServedStore extends RequestStore {
  /** Writes some of the counted requests and noted pages, if nobody else is writing. */
  flush(): Flushed;
  /** Resolves when what was flushed is on the disk, which may be slow. */
  settle(): Promise<void>;
  /** Erases what is older than its account keeps, in a thread of its own, unless the clock may be wrong. */
  applyRetention(nowMs: number, hasJumped: boolean): Promise<Retained>;
  /** Whether nothing has been set up yet, so that a first start can say what to do next. */
  isEmpty(): boolean;
  /** Hears where the server listens, so that `cluster status` can ask it. Throws a StoreError where it must not serve. */
  listening(url: string): Promise<void>;
  /** Writes what is left and closes the file; gives a promise where the last counts go over the network. */
  close(): void | Promise<void>;
}
