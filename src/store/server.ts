/** The port of the server: what a request asks of a store, in the words of the domain. */
import type { LeadQuery } from "../contract/parameters.ts";
import type { Pixel } from "../contract/pixel.ts";

/** Accounts and keys have an id for people and a number for the store's own references. */
export type AccountNumber = number;

export type KeyNumber = number;

/** The store could not be read or written. What went wrong is the cause, which is for the log alone. */
export class StoreFailure extends Error {
  override readonly name = "StoreFailure";
}

/** All that the way of a request needs (§4): every method is synchronous, and throws StoreFailure when it fails. */
export interface ReadStore {
  readonly keys: KeyFinder;
  readonly pixels: PixelReader;
  readonly leads: LeadReader;
  readonly usage: UsageCounter;
  /** Another number once somebody else has written to the store, as of the last look at it. */
  version(): number;
  /**
   * Does some work at once, within which the store stands still: one look at what others have written until its
   * beginning holds for all that it asks.
   */
  together(work: () => void): void;
  /** Reads something of the file itself. */
  probe(): void;
  /** How large the file is, and the log beside it, in bytes; how many leads there are, as of a minute ago at most. */
  sizes(): { readonly fileBytes: number; readonly logBytes: number; readonly leads: number };
}

export interface KeyFinder {
  /**
   * The key with this digest as it is now, or null when there is none. Every request begins with it: what other
   * processes have written until then holds for all that is asked in the same synchronous step, a revocation too.
   */
  find(digest: Buffer): KnownKey | null;
}

export interface KnownKey {
  readonly number: KeyNumber;
  readonly account: AccountNumber;
  /** The first characters of the key, for logs. */
  readonly prefix: string;
  readonly revoked: boolean;
  /** From this moment on the key is revoked by itself; Infinity for one that holds until it is revoked. */
  readonly expiresMs: number;
  /** Whether the account has an active subscription. */
  readonly subscribed: boolean;
}

export interface PixelReader {
  /** In the order in which they were created. */
  list(account: AccountNumber): Pixel[];
  has(account: AccountNumber, id: string): boolean;
}

export interface LeadReader {
  /** One page, newest first. */
  page(account: AccountNumber, query: LeadQuery): LeadPage;
}

export interface LeadPage {
  /** Stored documents in UTF-8, to be served as they are. */
  readonly documents: readonly Uint8Array[];
  /** The moment of the last lead when there are more, in Unix milliseconds; otherwise null. */
  readonly nextMs: number | null;
}

export interface UsageCounter {
  /** Counts one request; it is on disk a second later at the latest. */
  count(key: KeyNumber, nowMs: number): void;
  /** What was counted in the UTC day and month of a moment. */
  of(key: KeyNumber, nowMs: number): UsageCounts;
}

export interface UsageCounts {
  readonly today: number;
  readonly month: number;
}

/** What the server holds of the store beyond answering: counts go to disk while it runs, and all of it when it stops. */
export interface ServedStore extends ReadStore {
  /** Writes some of the counted requests, if nobody else is writing. */
  flush(): Flushed;
  /** Resolves when what was flushed is on the disk, which may be slow. */
  settle(): Promise<void>;
  /** Erases what is older than its account keeps, in a thread of its own, unless the clock may be wrong. */
  applyRetention(nowMs: number, hasJumped: boolean): Promise<Retained>;
  /** Whether nothing has been set up yet, so that a first start can say what to do next. */
  isEmpty(): boolean;
  /** Writes what is left, folds the log into the file and closes it. */
  close(): void;
}

/**
 * How far the writing of counts came. idle: there was nothing to write; done: all is written that had been counted when it
 * began; more: a part is, and others should be let through before the next; locked: another program was writing.
 */
export type Flushed = "idle" | "done" | "more" | "locked";

export interface Retained {
  /** How many leads were erased. */
  readonly erased: number;
  /** Unix milliseconds until which nothing is erased, because the clock may be wrong; null when it is trusted. */
  readonly waitsUntilMs: number | null;
}
