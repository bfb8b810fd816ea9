/** Every import is a batch, whose number its leads know: it is recorded in the transactions that write them. */
import { and, eq, isNull, max } from "drizzle-orm";
import type { Connection } from "../../db/connection.ts";
import { imports } from "../../db/schema.ts";
import { StoreError } from "../../store/errors.ts";
import type { ImportCounts, ImportOrigin, ImportOutcome, MergeProgress } from "../../store/imports.ts";
import type { AccountNumber } from "../../store/reading.ts";
import type { Summary } from "./staging.ts";

/** A batch while it is written. */
export interface BatchRecord extends ImportOrigin {
  number: number;
  readonly account: AccountNumber;
  /** Whether it has a row. */
  isThere: boolean;
  readonly counts: ImportCounts;
  /** The moments of the oldest and the newest lead that it added; null where it added none. */
  oldestMs: number | null;
  newestMs: number | null;
  /** How many leads of other imports it replaced. */
  overwritten: number;
  /** How many have the id of a lead of another import, of quite another time or person. */
  ofOtherVisit: number;
}

/** The record of a batch that begins; its counts begin with what was judged before. */
export function beginBatch(account: AccountNumber, origin: ImportOrigin, counts: Readonly<ImportCounts>): BatchRecord {
  const nothing = { number: 0, isThere: false, oldestMs: null, newestMs: null, overwritten: 0, ofOtherVisit: 0 };
  return { ...nothing, account, counts: { ...counts }, ...origin };
}

/** Leads that were added at once, each at a moment. */
type Added = Pick<Summary, "leads" | "moved" | "older"> & { readonly oldestMs: number; readonly newestMs: number };

/** Notes that leads were added. */
export function noteAdded(record: BatchRecord, { leads, moved, older, oldestMs, newestMs }: Added): void {
  const { counts } = record;
  counts.read += leads;
  counts.imported += leads;
  counts.moved += moved;
  counts.late += older;
  record.oldestMs = Math.min(record.oldestMs ?? oldestMs, oldestMs);
  record.newestMs = Math.max(record.newestMs ?? newestMs, newestMs);
}

/** Notes what became of one lead. */
export function noteOutcome(record: BatchRecord, outcome: ImportOutcome): void {
  if (outcome.kind === "imported") {
    const { moved, late, atMs } = outcome;
    noteAdded(record, { leads: 1, moved: Number(moved), older: Number(late), oldestMs: atMs, newestMs: atMs });
    return;
  }
  if (outcome.kind === "replaced" && outcome.ofOther) record.overwritten++;
  if ("ofOtherVisit" in outcome && outcome.ofOtherVisit) record.ofOtherVisit++;
  record.counts.read++;
  record.counts[outcome.kind === "duplicate" ? "duplicates" : outcome.kind]++;
}

/** To be called within the transaction that writes it. */
export function nextBatch(database: Connection): number {
  const last = database
    .select({ number: max(imports.number) })
    .from(imports)
    .get()?.number;
  return (last ?? 0) + 1;
}

/**
 * The row of a batch, which says how far it is. It gets one with the first lead that it adds or replaces; and at once where
 * it has written rejected rows to a file, which an erasure names.
 */
export function rowOf(record: BatchRecord, finishedMs: number | null) {
  const { number, account, file, by, rejectsFile, startedMs, oldestMs, newestMs, overwritten, counts } = record;
  if (!hasBrought(counts) && (rejectsFile === null || counts.rejected === 0)) return null;
  const origin = { number, account, at: startedMs, file, by, rejectsFile };
  return { ...origin, ...counts, finishedAt: finishedMs, oldest: oldestMs, newest: newestMs, overwritten };
}

/** How far a batch is, for whoever waits for it. */
export function progressOf(record: BatchRecord): Omit<MergeProgress, "done"> {
  const { counts, isThere, number, newestMs, overwritten, ofOtherVisit } = record;
  const batch = isThere && hasBrought(counts) ? number : null;
  return { counts: { ...counts }, batch, newestMs, overwritten, ofOtherVisit };
}

function hasBrought({ imported, replaced }: ImportCounts): boolean {
  return imported + replaced > 0;
}

/** Writes how far a batch is, in the transaction that brought it there. */
export function recordBatch(database: Connection, record: BatchRecord, finishedMs: number | null): void {
  const row = rowOf(record, finishedMs);
  if (row === null) return;
  if (!record.isThere) {
    database.insert(imports).values(row).run();
    record.isThere = true;
    return;
  }
  const mine = and(eq(imports.number, record.number), isNull(imports.undoneAt));
  const found = database.update(imports).set(row).where(mine).returning({ number: imports.number }).all();
  if (found.length === 0) throw new StoreError({ kind: "import undone meanwhile", number: record.number });
}
