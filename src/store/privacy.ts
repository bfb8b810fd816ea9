/** Looking after the data of people: find, erase, retain, record, copy. */
import type { Received } from "./disclosures.ts";
import type { AccountNumber } from "./reading.ts";
import type { Account } from "./repositories.ts";

/** What a person is known by, in the form in which it is compared: lower case, digits without the 1 of the US, a UUID. */
export interface PersonIdentifier {
  readonly kind: "email" | "phone" | "id";
  readonly value: string;
}

/** How a list names a person: by an identifier, or by the SHA-256 of an e-mail address or phone in hexadecimal digits. */
export interface PersonReference {
  readonly kind: PersonIdentifier["kind"] | "digest";
  readonly value: string;
}

/** All persons of a list are looked for in one reading of the leads. `onRead` hears how many leads were read. */
export interface PeopleRepository {
  /** What is held on each person, in the order of the list. */
  find(
    account: Account,
    persons: readonly PersonReference[],
    nowMs: number,
    onRead?: (leads: number) => void,
  ): Iterable<Held>;
  /** How many leads an erasure would take of each person, and how many others mention them. */
  survey(account: Account, persons: readonly PersonReference[], onRead?: (leads: number) => void): Survey;
  /** Removes the persons from the account and keeps them out of it. */
  erase(account: Account, persons: readonly PersonReference[], how: HowToErase, nowMs: number): Erasure;
}

export interface Held {
  /** The stored documents, newest first. */
  readonly leads: readonly string[];
  /** Who received them, in their order. */
  readonly received: readonly Received[];
  readonly imports: readonly HeldImport[];
}

/** What a lead came with. */
export interface HeldImport {
  readonly import: number;
  readonly at: string;
  readonly file: string;
}

export interface Survey {
  /** How many leads there are of each person. */
  readonly leads: readonly number[];
  /** The ids of other leads that hold what a person is known by. */
  readonly mentions: readonly string[];
}

export interface HowToErase {
  /** Also erases leads of nobody in the list that hold what a person is known by, such as in the address of a page. */
  readonly withMentions: boolean;
  readonly onRead?: (leads: number) => void;
}

export interface Erasure {
  /** Erases and blocks some persons at each step. When it hands on their receipts, the step is on the disk. */
  steps(): Iterable<readonly Erased[]>;
  /** The ids of leads that stay though they hold what an erased person is known by, as of the steps until now. */
  mentions(): readonly string[];
  /** Looks for bytes of the erased in all files, and takes them out where they are. May take a minute. */
  removeTraces(): Traces;
}

/** One person who was erased. */
export interface Erased {
  /** The place in the list. */
  readonly place: number;
  readonly erased: number;
  readonly receipt: Receipt;
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
  /** SHA-256 of what was given as such, in hexadecimal digits. */
  readonly digests: readonly string[];
  /** Whom to tell: which keys received what was erased, by their ids, and on which UTC days. */
  readonly received: readonly Pick<Received, "key" | "first" | "last" | "possibly">[];
  /** Files to which imports of the account wrote rejected rows, as their paths were given: the owner alone can delete those. */
  readonly rejects_files: readonly string[];
}

export interface Traces {
  /** Whether nothing of what was erased is left in the file and its log. */
  readonly gone: boolean;
  /** How many bytes were looked through. */
  readonly bytes: number;
  /** Values that are still in the file, because leads that stay have them, too. */
  readonly shared: number;
  /** Other files beside the database that hold what was erased, such as copies. */
  readonly copies: readonly string[];
  /** The nodes of a cluster whose logs hold it until they are scrubbed; nothing on a file of its own. */
  readonly inLogsOf?: readonly string[];
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
  /** What was brought over from the file that was replaced, because it must outlive it. */
  readonly merged: readonly Merged[];
  /** What of the file that was replaced could not be brought over, because it is damaged. */
  readonly unread: readonly string[];
  /** Where the file lies that was replaced; null when there was none. */
  readonly kept: string | null;
}

export interface Merged {
  /** Such as `revoked keys`. */
  readonly name: string;
  readonly count: number;
}
