/** The types that reading and writing a file share: a lead before it is stored, and the counts of an import. */
import type { PersonIdentifier } from "../contract/person.ts";
import { UserError } from "../runtime/user-error.ts";

/** The options of an import: what to do with a lead that is already stored, and with an unknown pixel. */
export interface ImportOptions {
  readonly onDuplicate: "skip" | "replace";
  readonly createPixels?: boolean;
  /** Runs the whole import and writes nothing. */
  readonly dryRun?: boolean;
}

/** A lead that is complete apart from its stored time, which must be free when it is written. */
export interface NewLead {
  readonly id: string;
  readonly pixelId: string;
  readonly state: string | null;
  readonly cityKey: string | null;
  readonly hasEmail: boolean;
  /** Unix milliseconds; null asks for the time of arrival or, without one, of import. */
  readonly identifiedMs: number | null;
  /** The time at which it was delivered. */
  readonly arrivedMs?: number | null;
  /** True if the source gives a time ahead of the clock: the lead counts as moved. */
  readonly clamped: boolean;
  /** Further email addresses and phones of the visitor. They are not stored, but an erasure by one of them blocks the lead. */
  readonly aliases: readonly PersonIdentifier[];
  /** The ID in the source, unless it is a UUID. An erasure by it blocks the lead, whatever its pixel is. */
  readonly vendorId: string | null;
  /** The columns from which its fields came (map/origins.ts); null if they are not known. */
  readonly origin: Uint16Array | null;
  /** The document as `writeDocument` makes it. A lead without a time gets its time when it is written. */
  readonly document: string;
}

/** The outcome of one lead. */
export type ImportOutcome =
  | { readonly kind: "imported"; readonly atMs: number; readonly moved: boolean; readonly late: boolean }
  /** `isRepeated` if the stored lead is from the same import: the file has it twice. */
  | { readonly kind: "duplicate"; readonly isRepeated: boolean }
  | { readonly kind: "suppressed" | "rejected" }
  /** `ofOther` if the replaced lead is from another import. */
  | { readonly kind: "replaced"; readonly ofOther: boolean };

/** read = imported + duplicates + replaced + suppressed + rejected. */
export interface ImportCounts {
  read: number;
  imported: number;
  duplicates: number;
  replaced: number;
  /** Leads with a later time than their source says, because the millisecond was taken or the clock was slow. */
  moved: number;
  /** Leads older than the newest lead of the account: polling clients have read past them. */
  late: number;
  suppressed: number;
  rejected: number;
}

/** Returns the counts of an import that has read nothing. */
export function emptyCounts(): ImportCounts {
  return { read: 0, imported: 0, duplicates: 0, replaced: 0, moved: 0, late: 0, suppressed: 0, rejected: 0 };
}

/** The origin of the rows of an import, as the import records it. */
export interface ImportOrigin {
  /** The name of the file without its folder; `-` for standard input. */
  readonly file: string;
  /** The system user who runs the import. */
  readonly by: string;
  /** The path of the rejects file; null if none was asked for. */
  readonly rejectsFile: string | null;
  readonly startedMs: number;
  /** The number of an earlier import that this one continues; null or absent for a new one. */
  readonly continues?: number | null;
}

/**
 * A failure of the database, the disk, or the system interrupted an import. The file is not at fault and can be
 * imported again unchanged.
 */
export class ImportInterrupted extends UserError {
  constructor(message: string, advice: string, cause: unknown) {
    super(message, advice, 1, { cause });
  }
}

/**
 * The way in which the leads of an import arrive: by a command that somebody typed, as a file in a folder to which others can
 * write, or as deliveries. A delivery is a record by itself: nobody can correct its time.
 */
export type ImportMode = "command" | "inbox" | "delivery";

/** Returns whether nobody can be asked, and others may have put a link at the path of the file or of its rejects. */
export function isUnattended(mode: ImportMode = "command"): boolean {
  return mode !== "command";
}
