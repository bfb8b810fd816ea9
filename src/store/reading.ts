/**
 * The port of reading: what a request asks of a store, in the words of the domain. Nothing here writes, so that the file may
 * be one that another program writes: a server opens it read-only, and its counts of requests leave by usage.ts.
 */
import type { LeadQuery } from "../contract/parameters.ts";
import type { Pixel } from "../contract/pixel.ts";

/** Accounts and keys have an id for people and a number for the store's own references. */
export type AccountNumber = number;

export type KeyNumber = number;

/** The store could not be read or written. What went wrong is the cause, which is for the log alone. */
export class StoreFailure extends Error {
  override readonly name = "StoreFailure";
}

/** All that a request reads (§4): every method is synchronous, and throws StoreFailure when it fails. */
export interface ReadStore {
  readonly keys: KeyFinder;
  readonly pixels: PixelReader;
  readonly leads: LeadReader;
  /** Another number once somebody else has written to the store, as of the last look at it. */
  version(): number;
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
