/**
 * The port of the ledger: which key has received which leads. Each page of leads that is answered is noted in memory
 * (disclosed-pages.ts). The notes leave in parts, like the counts of usage. The ledger holds keys, filters and
 * moments, nothing of a person, and so it outlives an erasure.
 */
import type { AccountNumber, KeyNumber } from "./reading.ts";

/** One page: it had every lead that fits the filter, from its oldest to its newest moment. */
export interface DisclosedPage {
  /** As `writeFilter` writes it. */
  readonly filter: string;
  readonly oldestMs: number;
  readonly newestMs: number;
  /** The cursor of its request: no lead lies between the page and the cursor. Null for a page without one. */
  readonly beforeMs: number | null;
}

export interface DisclosureNotes {
  /** Notes a page that is answered; it is on disk a second later at the latest. */
  note(key: KeyNumber, page: DisclosedPage, nowMs: number): void;
}

/** From one moment of leads to another, both included. */
export interface Span {
  readonly oldestMs: number;
  readonly newestMs: number;
}

/** What one key received through one filter on one UTC day, as a change of what is kept: spans that touch have become one. */
export interface DisclosurePart {
  readonly key: KeyNumber;
  /** `2026-01-31` */
  readonly day: string;
  readonly filter: string;
  readonly removed: readonly Span[];
  /** A span that is kept already, and begins at the same moment, is replaced. */
  readonly added: readonly Span[];
}

/** What is kept of one key and day, by filter, oldest first. */
export interface DisclosureReader {
  of(key: KeyNumber, day: string): ReadonlyMap<string, readonly Span[]>;
}

/** Within this time a page that was answered is in the store, wherever its server runs. */
export const notedWithinMs = 1_500;

/** How long the ledger is kept: a person may ask who received a lead during the last thirteen months. */
export const keptDays = 400;

/** That a key received a lead, on which UTC days at the earliest and the latest. */
export interface Received {
  /** The id of the lead. */
  readonly id: string;
  /** The id of the key. */
  readonly key: string;
  readonly label: string | null;
  /** The first characters of the key. */
  readonly prefix: string;
  readonly first: string;
  readonly last: string;
  /** True where the lead came on that very day: then it may have come after the page was answered. */
  readonly possibly: boolean;
}

/** How far a live key has read, by filter; nothing of a key that never read. */
export interface ReadPosition {
  readonly key: string;
  readonly label: string | null;
  readonly prefix: string;
  readonly upToMs: ReadonlyMap<string, number>;
}

/** How many of the leads that came late a client which polls has passed, and how far back a poll must look to meet them. */
export interface Passed {
  readonly key: string;
  readonly label: string | null;
  readonly prefix: string;
  readonly late: number;
  readonly overlapSeconds: number;
}

/** How far clients had read when an import wrote its leads after a moment; null means all of its leads. */
export interface Reached {
  readonly afterMs: number | null;
  readonly positions: readonly ReadPosition[];
}

export interface RecipientRepository {
  /** How far each live key of an account has read. */
  positions(account: AccountNumber, nowMs: number): readonly ReadPosition[];
  /** What clients have passed of an import that is written; of two that hold for a lead the last one counts. */
  passed(account: AccountNumber, batch: number, reached: readonly Reached[]): readonly Passed[];
}
