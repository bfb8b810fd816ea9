/** The port of the doctor: examines a database file in any state, and changes nothing. */
import type { Unusable } from "../db/migrate.ts";
import type { KeyRecord } from "./repositories.ts";

export type Examination =
  | { readonly kind: "missing" }
  /** The system does not let this user read it. */
  | { readonly kind: "unreadable"; readonly reason: string }
  /** No SQLite file, or too damaged to be read. */
  | { readonly kind: "no database"; readonly reason: string }
  /** Another program or another build wrote it. */
  | { readonly kind: "unusable"; readonly why: Unusable; readonly build: string }
  /** Its log is not empty, and only a program that may write can copy it into the file. */
  | { readonly kind: "unfinished"; readonly logBytes: number }
  | { readonly kind: "read"; readonly contents: Contents };

export interface Contents {
  /** How many migrations the next start will apply. */
  readonly migrationsBehind: number;
  /** The first lines of what SQLite's integrity check found; empty when all is well. */
  readonly damage: readonly string[];
  /** Tables and indexes that are missing. */
  readonly lost: readonly string[];
  /** Filters of GET /leads for which SQLite reads more rows than it returns. */
  readonly slowFilters: readonly string[];
  /** The newest moment in the file, in Unix milliseconds. */
  readonly newestMs: number | null;
  readonly hasLeads: boolean;
  /** When the last backup was made, in Unix milliseconds. */
  readonly lastBackupMs: number | null;
  /** Every account. */
  readonly inflows: readonly AccountInflow[];
  /** Every key. */
  readonly keys: readonly KeyRecord[];
}

export interface AccountInflow {
  readonly id: string;
  readonly name: string;
  /** When leads came in last, in Unix milliseconds; null where none ever did. */
  readonly lastImportMs: number | null;
  /** Whether a source delivers to it that is not revoked. */
  readonly hasSource: boolean;
}

/** `full` compares every index with its table as well, which takes several times as long. */
export type Examine = (full: boolean) => Examination;
