/** Looking after what is held on people: finding, erasing, keeping for so long, putting on record, copying. */

import type { AccountNumber } from "./reading.ts";
import type { Account } from "./repositories.ts";

/** What a person is known by, in the form in which it is compared: lower case, digits without the 1 of the US, a UUID. */
export interface PersonTrait {
  readonly kind: "email" | "phone" | "id";
  readonly value: string;
}

export interface PeopleRepository {
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

export interface RetentionRepository {
  /** Whether a retention would leave none of the leads that there are. */
  wouldEraseAll(account: AccountNumber, days: number, nowMs: number): boolean;
  /** Sets how long leads are kept, in days, and erases what is older; null keeps all from now on. */
  set(account: Account, days: number | null, nowMs: number): { readonly erased: number; readonly traces: Traces };
}

export interface AuditRepository {
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

/** Copies of the whole file, made and brought back. What is refused throws a StoreError, and nothing has changed. */
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
