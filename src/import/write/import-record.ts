/** Every import has a record with a number, which its leads carry. Its row is written in the transactions that write them. */
import { eq, max } from "drizzle-orm";
import type { AccountNumber } from "../../db/accounts.ts";
import type { Connection } from "../../db/connection.ts";
import { findImport } from "../../db/imports.ts";
import { imports } from "../../db/schema.ts";
import { UserError } from "../../runtime/user-error.ts";
import type { ImportCounts, ImportOrigin, ImportOutcome } from "../new-lead.ts";
import type { Destination } from "./lead-writer.ts";
import type { Summary } from "./staging.ts";

/** The result of reading a source, for its record. */
export interface SourceRead {
  readonly counts: Readonly<ImportCounts>;
  /** The hash of its columns; null for leads that came without any. */
  readonly layout: string | null;
}

/** The progress of a merge. Everything counted here is on the disk. */
export interface MergeProgress extends Readonly<Pick<ImportRecord, "newestMs" | "overwritten" | "repeated">> {
  readonly done: number;
  readonly counts: Readonly<ImportCounts>;
  /** The number of the import; null until a lead was added or replaced. */
  readonly importNumber: number | null;
}

/** An import while it is written. */
export interface ImportRecord extends ImportOrigin, Pick<SourceRead, "layout"> {
  number: number;
  readonly account: AccountNumber;
  /** True if its row exists. */
  isThere: boolean;
  readonly counts: ImportCounts;
  oldestMs: number | null;
  /** The time of the newest lead that was added; null while there is none. */
  newestMs: number | null;
  overwritten: number;
  /** The number of duplicates of a lead that the same file has. */
  repeated: number;
}

/** Returns the record of an import that begins, with the result of the reading. */
export function beginImportRecord(
  account: AccountNumber,
  { continues: _, ...origin }: ImportOrigin,
  { counts, layout }: SourceRead,
): ImportRecord {
  const nothing = { number: 0, isThere: false, oldestMs: null, newestMs: null, overwritten: 0, repeated: 0 };
  return { ...nothing, account, layout, counts: { ...counts }, ...origin };
}

/** Returns a record that continues an earlier import of the account, or the given record if there is no such import. */
export function continuing(read: Connection, record: ImportRecord, number: number | null): ImportRecord {
  const earlier = number === null ? null : findImport(read, record.account, number);
  if (earlier === null) return record;
  const { startedMs, finishedMs, undoneMs, file, by, ...stored } = earlier;
  const { oldestMs, newestMs, overwritten, number: _, ...counts } = stored;
  return { ...record, isThere: true, number: earlier.number, startedMs, oldestMs, newestMs, overwritten, counts };
}

/** Counts inserted leads, the oldest and newest of which have the given timestamps. */
export function countAdded(
  record: ImportRecord,
  { leads, moved, older }: Pick<Summary, "leads" | "moved" | "older">,
  oldestMs: number,
  newestMs: number,
): void {
  const { counts } = record;
  counts.read += leads;
  counts.imported += leads;
  counts.moved += moved;
  counts.late += older;
  record.oldestMs = Math.min(record.oldestMs ?? oldestMs, oldestMs);
  record.newestMs = Math.max(record.newestMs ?? newestMs, newestMs);
}

/** Counts the outcome of one lead. */
export function countOutcome(record: ImportRecord, outcome: ImportOutcome): void {
  if (outcome.kind === "imported") {
    const { moved, late, atMs } = outcome;
    countAdded(record, { leads: 1, moved: Number(moved), older: Number(late) }, atMs, atMs);
    return;
  }
  if (outcome.kind === "replaced" && outcome.ofOther) record.overwritten++;
  if (outcome.kind === "duplicate" && outcome.isRepeated) record.repeated++;
  record.counts.read++;
  record.counts[outcome.kind === "duplicate" ? "duplicates" : outcome.kind]++;
}

/** Returns the next free number. Call it within the transaction that writes the import. */
export function nextImportNumber(database: Connection): number {
  const last = database
    .select({ number: max(imports.number) })
    .from(imports)
    .get()?.number;
  return (last ?? 0) + 1;
}

/**
 * Returns the row of an import, or null while it has none. An import gets a row with the first lead that it adds or replaces,
 * and at once if it wrote a rejects file, which erasures name.
 */
function rowOf(record: ImportRecord, finishedMs: number | null) {
  const { number, account, file, by, rejectsFile, startedMs, oldestMs, newestMs, overwritten, counts } = record;
  if (!hasAdded(counts) && (rejectsFile === null || counts.rejected === 0)) return null;
  const origin = { number, account, at: startedMs, file, by, rejectsFile };
  // The columns are known once an import with them is complete: then somebody has seen how they are read.
  const layout = finishedMs !== null && hasAdded(counts) ? record.layout : null;
  return { ...origin, ...counts, layout, finishedAt: finishedMs, oldest: oldestMs, newest: newestMs, overwritten };
}

/** Returns the progress that a record shows. */
export function progressOf(record: ImportRecord): Omit<MergeProgress, "done"> {
  const { counts, isThere, number, newestMs, overwritten, repeated } = record;
  const importNumber = isThere && hasAdded(counts) ? number : null;
  return { counts: { ...counts }, importNumber, newestMs, overwritten, repeated };
}

function hasAdded({ imported, replaced }: ImportCounts): boolean {
  return imported + replaced > 0;
}

/** Writes the row of an import, in the transaction that wrote its leads. Throws a UserError if the import was undone. */
export function writeImportRecord(
  { read, run }: Pick<Destination, "read" | "run">,
  record: ImportRecord,
  finishedMs: number | null,
): void {
  const row = rowOf(record, finishedMs);
  if (row === null) return;
  const mine = eq(imports.number, record.number);
  if (record.isThere && read.select({ at: imports.undoneAt }).from(imports).where(mine).get()?.at != null) {
    throw new UserError(
      `Import ${record.number} was undone while it ran, so it stopped. None of its leads are stored.`,
      "To import all of them, import the file again.",
    );
  }
  run(record.isThere ? read.update(imports).set(row).where(mine) : read.insert(imports).values(row));
  record.isThere = true;
}
