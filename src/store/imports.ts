/** Leads on their way into a store: a whole file is put aside first, and then goes in, oldest lead first. */
import type { PersonIdentifier } from "../contract/person.ts";

export interface ImportOptions {
  readonly onDuplicate: "skip" | "replace";
  readonly createPixels?: boolean;
  /** Goes through everything and writes nothing. */
  readonly dryRun?: boolean;
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
  /** Whether its source has a later time, ahead of the clock: it counts as moved. */
  readonly clamped: boolean;
  /** Further addresses and phones of the visitor, which are not kept: whoever was erased by one of them stays out. */
  readonly aliases: readonly PersonIdentifier[];
  /** The document as `writeDocument` makes it, at that moment; one without a moment gets its own when it is written. */
  readonly document: string;
}

export type ImportOutcome =
  | { readonly kind: "imported"; readonly atMs: number; readonly moved: boolean; readonly late: boolean }
  /** `ofOtherVisit` where another import had added the lead that is there, of quite another time or person. */
  | { readonly kind: "duplicate"; readonly ofOtherVisit: boolean }
  /** `ofOther` where another import had added it. */
  | { readonly kind: "replaced"; readonly ofOther: boolean; readonly ofOtherVisit: boolean }
  | { readonly kind: "suppressed" }
  | { readonly kind: "rejected"; readonly why: "unknown pixel" | "too old" };

export interface LeadImport {
  /** Writes a few leads in one transaction, in their order, and returns the outcome of each. They belong to no batch. */
  write(leads: readonly NewLead[], nowMs: number): ImportOutcome[];
}

/** read = imported + duplicates + replaced + suppressed + rejected. */
export interface ImportCounts {
  read: number;
  imported: number;
  duplicates: number;
  replaced: number;
  /** Leads that lie later than their source says, because the millisecond was taken or the clock behind. */
  moved: number;
  /** Leads that clients which poll have passed already: they are older than the newest lead was. */
  late: number;
  suppressed: number;
  rejected: number;
}

export function emptyCounts(): ImportCounts {
  return { read: 0, imported: 0, duplicates: 0, replaced: 0, moved: 0, late: 0, suppressed: 0, rejected: 0 };
}

/** Where the rows of an import come from, as it is kept with its batch. */
export interface ImportOrigin {
  /** The name of the file without its folder; `-` for standard input. */
  readonly file: string;
  /** The user of the system who runs it. */
  readonly by: string;
  /** Where rejected rows are written; null where nobody asked for them. */
  readonly rejectsFile: string | null;
  readonly startedMs: number;
}

/** A row that cannot become a lead, with its own text. */
export interface RejectedRow {
  readonly line: number;
  readonly reason: string;
  readonly source: string | readonly string[];
}

/** What was put aside, before the first lead is written. */
export interface Preview {
  readonly leads: number;
  /** Of those, how many get the time of import. */
  readonly untimed: number;
  /** The moments of the oldest and the newest of the others; null where there are none. */
  readonly oldestMs: number | null;
  readonly newestMs: number | null;
  /** How many are older than the newest lead of the account. */
  readonly older: number;
  /** How many have the id of another lead of the file, but another time or page. */
  readonly sharingIds: number;
  /** How many say something else of a visit that is there already, and would stand beside it. */
  readonly changedVisits: number;
  /** How many lie in the minute of such a visit, where no time has seconds and that of the visit has. */
  readonly cutVisits: number;
}

/** How far the merge is: whatever is counted is on the disk. */
export interface MergeProgress {
  readonly done: number;
  readonly counts: Readonly<ImportCounts>;
  /** The number of the batch; null while nothing was added. */
  readonly batch: number | null;
  /** The moment of the newest lead that it added; null while there is none. */
  readonly newestMs: number | null;
  /** How many leads of other imports it replaced: then it cannot be taken back. */
  readonly overwritten: number;
  /** How many have the id of a lead of another import, of quite another time or person. */
  readonly ofOtherVisit: number;
}

/** One import. No lead of it is served before `merge`. If it ends before that, nothing of it is left. */
export interface StagedImport {
  /** Puts a lead aside. */
  add(lead: NewLead): void;
  /** Puts a rejected row aside. */
  reject(row: RejectedRow): void;
  /** Whether a lead with this id is stored already. */
  isStored(id: string): boolean;
  hasPixel(id: string): boolean;
  /** What is to go in. To be asked when all is put aside. */
  preview(mayShareIds: boolean): Preview;
  rejectedRows(): Iterable<RejectedRow>;
  /**
   * Writes what was put aside, oldest first, and adds to the counts of the reading. Each step is a transaction that is
   * on the disk. Throws a StoreError when it is cut short.
   */
  merge(before: Readonly<ImportCounts>, nowMs: () => number): AsyncGenerator<MergeProgress>;
  close(): void;
}

/** A batch is what came with one import, and what became of it. */
export interface Batch extends Readonly<ImportCounts> {
  readonly number: number;
  readonly startedMs: number;
  /** Null while it runs, and where it was cut short. */
  readonly finishedMs: number | null;
  readonly file: string;
  readonly by: string;
  /** The moments of the oldest and the newest lead that it added; null where it added none. */
  readonly oldestMs: number | null;
  readonly newestMs: number | null;
  /** How many leads of other imports it replaced. */
  readonly overwritten: number;
  /** When what it added was taken back; null while it is there. */
  readonly undoneMs: number | null;
}
