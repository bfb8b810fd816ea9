/** What the admin command reads and writes: accounts, pixels, keys, leads and imports. */
import type { KeyLife } from "../contract/key.ts";
import type { Pixel } from "../contract/pixel.ts";
import type { ImportOptions, ImportOrigin, ImportOutcome, NewLead } from "../import/new-lead.ts";
import type { StagedImport } from "../import/staged-import.ts";
import type { AccountNumber, LeadReader, PixelReader } from "./reading.ts";

export interface Account {
  readonly number: AccountNumber;
  readonly id: string;
  readonly name: string;
  readonly active: boolean;
  /** Leads older than this many days are erased; null keeps them all. */
  readonly retainDays: number | null;
}

export interface AccountRepository {
  /** A new account with an active subscription; null when the name is taken. */
  create(name: string, nowMs: number): Account | null;
  list(): Account[];
  /** By id or by exact name. */
  find(idOrName: string): Account | null;
  setActive(account: AccountNumber, active: boolean, nowMs: number): void;
}

export interface PixelRepository extends PixelReader {
  /** False when the account has a pixel with this id. */
  create(account: AccountNumber, pixel: Pixel, nowMs: number): boolean;
  /** False when the account has no such pixel. */
  setStatus(account: AccountNumber, pixel: Pixel): boolean;
}

export interface KeyRecord extends KeyLife {
  readonly id: string;
  readonly prefix: string;
  readonly label: string | null;
  /** The id of its account. */
  readonly account: string;
  readonly createdMs: number;
  /** The last UTC day with a request, `2026-01-31`. */
  readonly lastUsed: string | null;
  /** The newest moment of a lead that it received; null where it received none. */
  readonly readUpToMs: number | null;
}

interface NewKey {
  readonly digest: Buffer;
  readonly prefix: string;
  readonly label: string | null;
  /** Without it the key never expires. */
  readonly expiresMs?: number | null;
}

export interface KeyRepository {
  create(account: AccountNumber, key: NewKey, nowMs: number): KeyRecord;
  list(account: AccountNumber): KeyRecord[];
  find(id: string): KeyRecord | null;
  /** Requests of the key with this id in the UTC month of a moment, as far as they are in the file. */
  requestsOfMonth(id: string, nowMs: number): number;
  /** Sets when a key expires. Gives the key as it is then; null when there is none. */
  expire(id: string, expiresMs: number, nowMs: number): KeyRecord | null;
  /** The key as it is after its revocation, which is final; null when there is none with this id. */
  revoke(id: string, nowMs: number): KeyRecord | null;
  findByDigest(digest: Buffer): KeyRecord | null;
}

export interface LeadImport {
  /** Writes leads in one transaction, in their order, and returns the outcome of each. They belong to no batch. */
  write(leads: readonly NewLead[], nowMs: number): ImportOutcome[];
}

export interface LeadRepository extends LeadReader {
  beginImport(account: AccountNumber, options: Omit<ImportOptions, "dryRun">): LeadImport;
  /** The stored documents, oldest first, in groups. */
  export(account: AccountNumber): Iterable<readonly string[]>;
}

export interface ImportRepository {
  begin(account: Account, options: ImportOptions, origin: ImportOrigin): StagedImport;
}
