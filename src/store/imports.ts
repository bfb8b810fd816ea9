/** Leads on their way into a store. */

export interface ImportOptions {
  readonly onDuplicate: "skip" | "replace";
  readonly createPixels: boolean;
  /** Goes through it all and leaves nothing behind. */
  readonly dryRun: boolean;
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
   * given when the time of a transaction is up.
   */
  write(leads: readonly NewLead[], nowMs: number): ImportOutcome[];
}

export interface ImportWorker {
  /** Writes all leads in short transactions; the outcomes, in order, come when all of it is on the disk. */
  write(leads: readonly NewLead[], nowMs: number): Promise<ImportOutcome[]>;
  close(): void;
}
