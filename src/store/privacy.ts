/** The ports for personal data: find, erase, unblock, retain, and record what was done. */

import type { PersonIdentifier } from "../contract/person.ts";
import type { Received } from "./disclosures.ts";
import type { AccountNumber } from "./reading.ts";
import type { Account } from "./repositories.ts";

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
  /** Whether an erasure keeps this identifier out of the account. */
  isBlocked(account: Account, identifier: PersonIdentifier): boolean;
  /** Lifts every block that keeps this identifier out of the account, and no other one. Gives how many there were. */
  unblock(account: Account, identifier: PersonIdentifier, nowMs: number): number;
}

export interface Held {
  /** The stored documents, newest first. */
  readonly leads: readonly string[];
  /** Who received them, in their order. */
  readonly received: readonly Received[];
  readonly imports: readonly HeldImport[];
  /** The ids of other leads that hold an identifier of the person, such as in page_url. */
  readonly mentions: readonly string[];
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
  /** How many different people they name: more than one where many share a phone. */
  readonly people: readonly number[];
  /** The ids of other leads that hold an identifier of a person. */
  readonly mentions: readonly string[];
}

export interface HowToErase {
  /** Also erases leads of others that hold an identifier of a person, such as in the address of a page. */
  readonly withMentions: boolean;
  readonly onRead?: (leads: number) => void;
  /** How long a server takes to note its last pages, before it is read who received what is gone; 0 where none runs. */
  readonly notedWithinMs?: number;
}

export interface Erasure {
  /** Each step erases and blocks some persons. When it yields their receipts, the step is on the disk. */
  steps(): Iterable<readonly Erased[]>;
  /** The leads that stay though they hold an identifier of an erased person, so far. */
  staying(): Staying;
  /**
   * Looks for bytes of erased leads in all files, and removes them; that takes minutes where the files are large. Killed
   * meanwhile, any later erasure or retention completes it.
   */
  removeTraces(onLook: OnLook): Traces;
}

/** Hears, before the search for bytes begins, how many bytes the files have. */
export type OnLook = (bytes: number) => void;

/** Leads that stay after an erasure, by their ids. */
export interface Staying {
  /** They have a blocked address, phone or id as their own, so an import would leave them out. */
  readonly blocked: readonly string[];
  /** They only mention it, such as in page_url. */
  readonly mentioning: readonly string[];
}

/** One person who was erased. */
export interface Erased {
  /** The place in the list. */
  readonly place: number;
  readonly erased: number;
  /** How many different people the erased leads named, as in a survey. */
  readonly people: number;
  readonly receipt: Receipt;
}

/** Proves an erasure, and repeats it after the loss of the machine. It holds hashes, and no personal data. */
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
  /** Whom to tell: the keys that received the erased leads, and on which UTC days. */
  readonly received: readonly Pick<Received, "key" | "first" | "last" | "possibly">[];
  /** The files of rejected rows that imports of the account wrote. Only the owner can delete them. */
  readonly rejects_files: readonly string[];
}

export interface Traces {
  /** Whether nothing of what was erased is left in the file and its log. */
  readonly gone: boolean;
  /** How many bytes were looked through. */
  readonly bytes: number;
  /** The names of the accounts with leads that stay and have values of the erased, which are in the file because of that. */
  readonly sharedBy: readonly string[];
  /** Other files beside the database that hold what was erased, such as copies. */
  readonly copies: readonly string[];
  /** Names that the operator has given, such as that of a file, and that hold what was erased. */
  readonly givenNames: readonly string[];
  /** In a cluster: the nodes whose logs hold it until they are scrubbed. */
  readonly inLogsOf?: readonly string[];
}

export interface RetentionSurvey {
  /** How many leads are older than that. */
  readonly older: number;
  /** How many leads the account has. */
  readonly all: number;
  /** Whether the clock is so far ahead of what was last written that it may be wrong. */
  readonly isFarAhead: boolean;
}

export interface RetentionRepository {
  /** What would be erased if the leads of an account were kept for some days. */
  survey(account: AccountNumber, days: number, nowMs: number): RetentionSurvey;
  /** Sets how long leads are kept, in days, so that what is older can be erased; null keeps all from now on. */
  set(account: Account, days: number | null, nowMs: number): Retaining;
}

export interface Retaining extends Pick<Erasure, "removeTraces"> {
  /** Erases some leads at each step, and gives how many are gone by then. Cut short and begun again, it completes. */
  steps(): Iterable<number>;
  /** Whether one before was cut short, whose bytes are removed as well. */
  readonly completesEarlier: boolean;
}

export type { AuditEntry } from "../db/audit.ts";
export type { Act } from "../db/schema.ts";
