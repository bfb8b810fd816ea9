/** An import while it is staged, previewed, and merged, as its command sees it. */
import type { Account, AccountNumber } from "../db/accounts.ts";
import type { ImportCounts, ImportOptions, ImportOrigin, ImportOutcome, NewLead } from "./new-lead.ts";
import type { Staging, Summary } from "./write/staging.ts";

/** Writes leads into the database: a file, or a cluster. */
export interface Importer {
  /** Begins an import. Nothing is written before its `merge`. */
  begin(account: Account, options: ImportOptions, origin: ImportOrigin): StagedImport;
  /** Writes leads in one transaction, in their order, and returns the outcome of each. They belong to no batch. */
  writeLeads(
    account: AccountNumber,
    leads: readonly NewLead[],
    options: ImportOptions & { readonly nowMs: number },
  ): Promise<ImportOutcome[]>;
}

export interface Preview extends Omit<Summary, "moved"> {
  /** The number of leads with the ID of another lead of the file, but another time or page. */
  readonly sharingIds: number;
  /** The number of leads with the time, page, and visitor of a stored lead that has another ID. Both would be kept. */
  readonly changedVisits: number;
  /** The same for the minute of a stored lead, if no staged lead has a time with seconds. */
  readonly cutVisits: number;
  /** The number of stored leads whose email address would be replaced by another one. */
  readonly changedEmails: number;
}

/** The progress of a merge. Everything counted here is on the disk. */
export interface MergeProgress {
  readonly done: number;
  readonly counts: Readonly<ImportCounts>;
  /** The number of the batch; null until a lead was added or replaced. */
  readonly batch: number | null;
  /** The time of the newest lead that was added; null while there is none. */
  readonly newestMs: number | null;
  readonly overwritten: number;
  readonly ofOtherVisit: number;
}

/** The result of reading a source, for its batch. */
export interface SourceRead {
  readonly counts: Readonly<ImportCounts>;
  /** The hash of its columns; null for leads that came without any. */
  readonly layout: string | null;
}

export interface MergeListener {
  /** Called after each step, with the number of leads written so far. Some of them may not be committed. */
  onProgress(done: number): void;
  /** Returns true if the import should end soon, as after Ctrl-C. */
  isStopping(): boolean;
}

/** One import. No lead is served before `merge`; an import that ends before it leaves nothing. */
export interface StagedImport extends Pick<Staging, "add" | "reject" | "rejectedRows" | "sample"> {
  /** Returns true if a lead with this ID is stored. */
  isStored(id: string): boolean;
  hasPixel(id: string): boolean;
  /** Returns what the import would change. Must be called after the last `add`. */
  preview(mayShareIds: boolean): Promise<Preview>;
  /**
   * Merges the staged leads, and adds to the counts of the reading. At each step, one more transaction is on the disk. Throws
   * a UserError if it is interrupted.
   */
  merge(read: SourceRead, nowMs: () => number, listener?: MergeListener): AsyncGenerator<MergeProgress>;
  close(): void;
}
