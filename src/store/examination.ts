/** The port of the doctor: what is asked of a database file that may be in any state, and is left as it is. */

export type Examination =
  | { readonly kind: "missing" }
  /** The system does not let this user read it. */
  | { readonly kind: "unreadable"; readonly reason: string }
  /** Not of SQLite, or too damaged to be read as such. */
  | { readonly kind: "no database"; readonly reason: string }
  | { readonly kind: "foreign" }
  | { readonly kind: "newer" }
  /** A log lies beside it that only a program that may write can fold in. */
  | { readonly kind: "unfinished"; readonly logBytes: number }
  | { readonly kind: "read"; readonly contents: Contents };

export interface Contents {
  /** How many migrations the next start will apply. */
  readonly migrationsBehind: number;
  /** What SQLite's check of the whole file says, the first lines of it; empty when all is well. */
  readonly damage: readonly string[];
  /** Tables and indexes that Leadfile needs and that are not there. */
  readonly lost: readonly string[];
  /** Filters of GET /leads for which SQLite reads more rows than it returns. */
  readonly slowFilters: readonly string[];
  /** The newest moment that anything in the file is of, in Unix milliseconds. */
  readonly newestMs: number | null;
  readonly hasLeads: boolean;
  /** When the last backup was made, in Unix milliseconds. */
  readonly lastBackupMs: number | null;
  /** When leads came in last, in Unix milliseconds. */
  readonly lastImportMs: number | null;
  /** How many addresses for deliveries are not revoked. */
  readonly liveSources: number;
  /** Keys that are not revoked, with the UTC day of their last request, or null. */
  readonly liveKeys: readonly LiveKey[];
}

export interface LiveKey {
  readonly id: string;
  readonly account: string;
  readonly createdMs: number;
  /** From when on it is revoked by itself; null where it holds until it is revoked. */
  readonly expiresMs: number | null;
  readonly lastUsed: string | null;
}

/** `full` compares every index with its table as well, which takes several times as long. */
export type Examine = (full: boolean) => Examination;
