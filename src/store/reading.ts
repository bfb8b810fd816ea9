/**
 * The port of reading: what a request asks of a store. Nothing here writes, so that another program may write the file:
 * a server opens it read-only, and its counts of requests leave by usage.ts.
 */
import type { KeyLife } from "../contract/key.ts";
import type { LeadQuery } from "../contract/parameters.ts";
import type { Pixel } from "../contract/pixel.ts";
import type { AccountNumber } from "../db/accounts.ts";
import type { Span } from "../privacy/disclosures/spans.ts";

export type { AccountNumber } from "../db/accounts.ts";

export type KeyNumber = number;

/** A query of a server failed: `query_failed` to its client (§7). What went wrong is the cause, for the log alone. */
export class QueryFailed extends Error {
  override readonly name = "QueryFailed";
}

/** All that a request reads (§4): every method is synchronous, and throws QueryFailed when it fails. */
export interface ReadStore {
  /**
   * A number that changes when others have written: what was read before may be stale. Ask for it before a request is
   * answered: whatever was committed before holds for the request, a revocation too.
   */
  version(): number;
  readonly keys: KeyFinder;
  readonly pixels: PixelReader;
  readonly leads: LeadReader;
  /** Reads something of the file itself. */
  probe(): void;
  sizes(): StoreSizes;
}

export interface StoreSizes {
  readonly fileBytes: number;
  /** Of the log beside the file. */
  readonly logBytes: number;
  /** As of a minute ago at most. */
  readonly leads: number;
  /** When the last import was done that brought leads, in Unix milliseconds; null where none was. */
  readonly lastImportMs: number | null;
}

export interface KeyFinder {
  /** The key with this digest, or null when there is none. */
  find(digest: Buffer): KnownKey | null;
}

export interface KnownKey extends KeyLife {
  readonly number: KeyNumber;
  readonly account: AccountNumber;
  /** The first characters of the key, for logs. */
  readonly prefix: string;
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
  /**
   * The time of which the page has all leads that fit: from its oldest lead, or from `since` if there are no more, to its
   * newest lead; and the newest import that it can contain. Null for a page without leads.
   */
  readonly span: Span | null;
}
