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
  /** Erases what is older than its account keeps, in a thread of its own; how many leads that were. */
  applyRetention(nowMs: number): Promise<number>;
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
  readonly people: PeopleBook;
  readonly retention: RetentionBook;
  readonly audit: AuditBook;
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
  /** Leads older than so many days are erased; null keeps them all. */
  readonly retainDays: number | null;
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
  /** When it is revoked by itself; null for one that holds until it is revoked. */
  readonly expiresMs: number | null;
  /** The last UTC day with a request, `2026-01-31`. */
  readonly lastUsed: string | null;
}

export interface NewKey {
  readonly digest: Buffer;
  readonly prefix: string;
  readonly label: string | null;
  /** Nothing is a key that holds until it is revoked. */
  readonly expiresMs?: number | null;
}

export interface KeyBook {
  create(account: AccountNumber, key: NewKey, nowMs: number): KeyRecord;
  list(account: AccountNumber): KeyRecord[];
  find(id: string): KeyRecord | null;
  /** Requests of each key by its id in the UTC month of a moment, as far as they are in the file. */
  requestsOfMonth(account: AccountNumber, nowMs: number): ReadonlyMap<string, number>;
  /** Sets the moment from which a key is revoked by itself; the key as it is then, null when there is none. */
  expire(id: string, expiresMs: number, nowMs: number): KeyRecord | null;
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

/** What a person is known by, in the form in which it is compared: lower case, digits, a UUID. */
export interface PersonTrait {
  readonly kind: "email" | "phone" | "id";
  readonly value: string;
}

export interface PeopleBook {
  /** The stored documents of one person, newest first. */
  find(account: Account, person: PersonTrait, nowMs: number): string[];
  /** Removes the person from the account and keeps them out of it; the receipt is durable when this returns. */
  erase(account: Account, person: PersonTrait, nowMs: number): Erasure;
}

export interface Erasure {
  readonly erased: number;
  readonly receipt: Receipt;
  /** How many leads stay that have another e-mail address of the removed ones: none such can come in any more. */
  readonly alike: number;
  /** Looks for bytes of the person in all files, and takes them out where they are. May take a minute. */
  removeTraces(): Traces;
}

/** What proves an erasure, and repeats it where the machine was lost: hashes alone. */
export interface Receipt {
  readonly erased_at: string;
  /** The id of the account. */
  readonly account: string;
  /** The instance under whose random key the hashes were made. */
  readonly instance: string;
  /** HMAC-SHA-256, in hexadecimal digits. */
  readonly hashes: readonly string[];
}

export interface Traces {
  /** Whether nothing of what was erased is left in the file and its log. */
  readonly gone: boolean;
  /** How many bytes were looked through. */
  readonly bytes: number;
  /** Values that are in the file still, because leads that stay have them too. */
  readonly shared: number;
  /** Other files beside the database that hold what was erased, such as copies. */
  readonly copies: readonly string[];
}

export interface RetentionBook {
  /** Whether a retention would leave none of the leads that there are. */
  wouldEraseAll(account: AccountNumber, days: number, nowMs: number): boolean;
  /** Sets how long leads are kept, in days, and erases what is older; null keeps all from now on. */
  set(account: Account, days: number | null, nowMs: number): { readonly erased: number; readonly traces: Traces };
}

export interface AuditBook {
  record(entry: AuditEntry): void;
  /** Newest first; of all accounts without one. */
  list(most: number, account: string | null): AuditEntry[];
}

/** One act, without anything of a person. */
export interface AuditEntry {
  readonly atMs: number;
  /** Such as `lead.erase`. */
  readonly act: string;
  /** The id of the account; null for what is done to the whole file. */
  readonly account: string | null;
  /** Counts and ids. */
  readonly detail: Readonly<Record<string, string | number | null>>;
}

/** Copies of the whole file, made and brought back. What is refused throws a Refusal, and nothing has changed. */
export interface CopyKeeper {
  /** A consistent copy with its manifest beside it; the server and an import may run. */
  backup(file: string, nowMs: number): Backup;
  /** Restores a backup into a temporary place, compares, and removes it again. */
  drill(file: string): Backup;
  /** Puts a backup in the place of the database; `receipts` is the path of a file with one a line. */
  restore(file: string, receipts: string | null, nowMs: number): Restoration;
}

export interface Backup {
  readonly file: string;
  readonly sha256: string;
  readonly bytes: number;
  readonly leads: number;
}

export interface Restoration {
  readonly leads: number;
  readonly erasedAgain: number;
  /** What of the file that was replaced could not be brought over, because it is damaged. */
  readonly unread: readonly string[];
  /** Where the file lies that was replaced; null when there was none. */
  readonly kept: string | null;
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
  | { readonly kind: "suppressed" }
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
