/** What a request reads of the database. */
import type { KeyLife } from "../contract/key.ts";
import type { LeadQuery } from "../contract/parameters.ts";
import type { Pixel } from "../contract/pixel.ts";
import type { AccountNumber } from "./accounts.ts";

/** The number by which the database refers to a key; people see its ID. */
export type KeyNumber = number;

/** A query of a server failed, which its client gets as `query_failed` (§7). The cause is for the log alone. */
export class QueryFailed extends Error {
  override readonly name = "QueryFailed";
}

/** What a request reads (§4). Every method is synchronous, and throws QueryFailed if it fails. */
export interface ReadStore {
  /**
   * Returns a number that changes if others have written, so that what was read before may be stale. Call it before a
   * request is answered: whatever was committed before holds for the request, a revocation too.
   */
  version(): number;
  readonly keys: KeyFinder;
  readonly pixels: PixelReader;
  readonly leads: LeadReader;
  /** Reads something from the file itself. */
  probe(): void;
  sizes(): StoreSizes;
  /** Further metrics, such as the lease of a server in a cluster. */
  readonly gauges?: readonly StoreGauge[];
}

/** A metric of /metrics. */
export interface StoreGauge {
  readonly name: string;
  readonly help: string;
  /** The value at present; null leaves the metric out. */
  readonly read: () => number | null;
}

export interface StoreSizes {
  readonly fileBytes: number;
  /** Of the write-ahead log. */
  readonly logBytes: number;
  /** As of a minute ago at most. */
  readonly leads: number;
  /** When the last import that added leads ended, in Unix milliseconds; null if there was none. */
  readonly lastImportMs: number | null;
  /** The last backup that was made and verified for BACKUP_TO or s3://; null if there was none. */
  readonly lastBackup: { readonly atMs: number; readonly bytes: number } | null;
  /** When the next live key expires; null if none does. */
  readonly nextKeyExpiryMs: number | null;
  /** The timestamp of the newest lead; null if there is none. */
  readonly newestLeadMs: number | null;
  /** Free on the disk of the database. */
  readonly freeBytes: number | null;
}

export interface KeyFinder {
  /** Returns the key with this digest; null if there is none. */
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
  /** The time of the last lead if there are more, in Unix milliseconds; otherwise null. */
  readonly nextMs: number | null;
  /**
   * The time of which the page has all leads that fit: from its oldest lead, or from `since` if there are no more, to its
   * newest lead; and the newest import that it can contain. Null for a page without leads.
   */
  readonly span: {
    readonly oldestMs: number;
    readonly newestMs: number;
    /** Twice the number of the newest import that it can contain, plus one if that was complete; null if unknown. */
    readonly seen: number | null;
  } | null;
}
