/** The ports: what the server and the admin command ask of a store, in the words of the domain. */
import type { LeadQuery } from "./contract/parameters.ts";
import type { Pixel } from "./contract/pixel.ts";

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
  readonly usage: UsageBook;
  /** Another number once somebody else has written to the store, as of the last key that was looked for. */
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

export interface UsageBook {
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
  /** Writes counted requests if nobody else is writing; false when it has to be tried again. */
  flush(): boolean;
  /** Whether nothing has been set up yet, so that a first start can say what to do next. */
  isEmpty(): boolean;
  /** Writes what is left, folds the log into the file and closes it. */
  close(): void;
}

/** All that the admin command needs. What it returns has been written durably. */
export interface AdminStore {
  readonly accounts: AccountBook;
  readonly pixels: PixelBook;
  readonly keys: KeyBook;
  readonly leads: LeadBook;
  /** What came to an account since a moment, the start of a UTC day. */
  stats(account: AccountNumber, sinceMs: number): Stats;
  close(): void;
}

/** How many of something have a value; null where they have none. */
export interface Share {
  readonly name: string | null;
  readonly count: number;
}

export interface Stats {
  /** Leads of all time. */
  readonly total: number;
  /** Days with leads, oldest first. */
  readonly byDay: readonly Share[];
  /** Largest first, like the two below. */
  readonly byPixel: readonly Share[];
  readonly byState: readonly Share[];
  readonly bySource: readonly Share[];
  /** Sources are counted of so many leads at most, the newest. */
  readonly sourcesRead: number;
  readonly requests: readonly {
    readonly key: string;
    readonly prefix: string;
    readonly label: string | null;
    readonly day: string;
    readonly requests: number;
  }[];
}

export interface Account {
  readonly number: AccountNumber;
  readonly id: string;
  readonly name: string;
  readonly active: boolean;
}

export interface AccountBook {
  /** A new account with an active subscription; null when the name is taken. */
  create(name: string, nowMs: number): Account | null;
  list(): Account[];
  /** By id or by exact name. */
  find(idOrName: string): Account | null;
  setActive(account: AccountNumber, active: boolean): void;
}

export interface PixelBook extends PixelReader {
  /** False when the account has a pixel with this id. */
  create(account: AccountNumber, pixel: Pixel, nowMs: number): boolean;
  /** False when the account has no such pixel. */
  setStatus(account: AccountNumber, pixel: Pixel): boolean;
}

export interface KeyRecord {
  readonly id: string;
  readonly prefix: string;
  readonly label: string | null;
  /** The id of its account. */
  readonly account: string;
  readonly createdMs: number;
  readonly revokedMs: number | null;
  /** The last UTC day with a request, `2026-01-31`. */
  readonly lastUsed: string | null;
}

export interface KeyBook {
  create(
    account: AccountNumber,
    key: { digest: Buffer; prefix: string; label: string | null },
    nowMs: number,
  ): KeyRecord;
  list(account: AccountNumber): KeyRecord[];
  /** The key as it is after its revocation, which is final; null when there is none with this id. */
  revoke(id: string, nowMs: number): KeyRecord | null;
  findByDigest(digest: Buffer): KeyRecord | null;
}

export interface LeadBook extends LeadReader {
  /** The same in a thread of its own, for imports of any size. */
  beginImportAside(account: AccountNumber, options: ImportOptions): LeadImportAside;
  beginImport(account: AccountNumber, options: ImportOptions): LeadImport;
  /** The stored documents, oldest first, in groups. */
  export(account: AccountNumber): Iterable<readonly string[]>;
}

export interface ImportOptions {
  readonly onDuplicate: "skip" | "replace";
  readonly createPixels: boolean;
  /** Goes through it all and leaves nothing behind. */
  readonly rehearsal: boolean;
}

/** A lead on its way in: complete but for its moment, which must be free when it is written. */
export interface NewLead {
  readonly id: string;
  readonly pixelId: string;
  readonly state: string | null;
  readonly cityKey: string | null;
  readonly hasEmail: boolean;
  /** Unix milliseconds; null asks for the time of import. */
  readonly identifiedMs: number | null;
  /** The document from `pixel_id` on, as `writeTail` makes it. */
  readonly tail: string;
}

export type ImportOutcome =
  | { readonly kind: "imported"; readonly moved: boolean; readonly late: boolean }
  | { readonly kind: "duplicate" }
  | { readonly kind: "replaced" }
  | { readonly kind: "rejected"; readonly reason: string };

export interface LeadImport {
  /**
   * Writes leads in one short transaction and returns the outcome of each that it reached, in order: fewer than were
   * given when the time of a transaction is up. What it returns is durable.
   */
  write(leads: readonly NewLead[], nowMs: number): ImportOutcome[];
}

export interface LeadImportAside {
  /** Writes all leads in short transactions; the outcomes, in order, are those of what is durable. */
  write(leads: readonly NewLead[], nowMs: number): Promise<ImportOutcome[]>;
  close(): void;
}
