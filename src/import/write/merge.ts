/**
 * What was put aside goes in, oldest first: whatever is committed is an ascending run, so that a client which polls with
 * `since` meets every lead that is newer than what the account had, in whatever order the file lies.
 */
import { sql } from "drizzle-orm";
import { type Connection, changedRows } from "../../db/connection.ts";
import { codeOf } from "../../db/failure.ts";
import { inLargeTransactions, type Portions } from "../../db/locks/large-transactions.ts";
import { leads, pixels } from "../../db/schema.ts";
import type { ImportCounts, ImportOptions, ImportOrigin, MergeProgress } from "../../store/imports.ts";
import type { AccountNumber } from "../../store/reading.ts";
import {
  type BatchRecord,
  beginBatch,
  nextBatch,
  noteAdded,
  noteOutcome,
  progressOf,
  recordBatch,
} from "./batch-record.ts";
import { runDry } from "./dry-run.ts";
import { type LeadWriter, openDestination, openLeadWriter } from "./lead-writer.ts";
import type { Staging } from "./staging.ts";

/** Another writer waits for the end of a step. */
const steps = { least: 500, most: 2_000, shortMs: 60, longMs: 150 };

/** What goes in, and how. */
export interface Material {
  readonly options: ImportOptions;
  readonly origin: ImportOrigin;
  readonly staging: Pick<Staging, "summarize" | "read">;
  /** Whether the leads were put aside on the connection that writes, so that many can go in by one statement. */
  readonly isSameConnection: boolean;
  /** What was judged before. */
  readonly counts: Readonly<ImportCounts>;
  readonly now: () => number;
}

/** Each step is a transaction that is on the disk. */
export async function* merge(
  database: Connection,
  account: AccountNumber,
  material: Material,
): AsyncGenerator<MergeProgress> {
  const { options, origin, now } = material;
  const writer = openLeadWriter(openDestination(database, account), options);
  const record = beginBatch(account, origin, material.counts);
  const writeSome = openWriting(database, writer, record, material);
  let size = steps.least;
  let done = 0;
  const portions: Portions = {
    begin() {
      if (!record.isThere && !options.dryRun) record.number = nextBatch(database);
      writer.begin({ batch: record.number, nowMs: now(), stampMs: origin.startedMs });
    },
    step() {
      const most = size;
      const begunMs = performance.now();
      const written = writeSome(done, most);
      size = nextSize(size, performance.now() - begunMs, steps);
      done += written;
      return written === most;
    },
    end(isDone) {
      if (!options.dryRun) recordBatch(database, record, isDone ? now() : null);
    },
  };
  for await (const _ of options.dryRun ? runDry(database, portions) : inLargeTransactions(database, portions)) {
    yield { done, ...progressOf(record) };
  }
}

/** How many leads a step has, and how long it may take. */
interface StepBounds {
  readonly least: number;
  readonly most: number;
  /** A step that took less may be twice as large. */
  readonly shortMs: number;
  /** After a step that took longer, the next one is half as large. */
  readonly longMs: number;
}

/** The size of the step after one: as many leads as take about as long as a step may, on a slow machine as on a fast one. */
export function nextSize(size: number, tookMs: number, { least, most, shortMs, longMs }: StepBounds): number {
  if (tookMs > longMs) return Math.max(least, Math.floor(size / 2));
  return tookMs < shortMs ? Math.min(most, size * 2) : size;
}

/** Makes what writes at most `most` leads from the place `from` on, and returns how many it wrote. */
function openWriting(
  database: Connection,
  writer: LeadWriter,
  record: BatchRecord,
  { staging, options, isSameConnection }: Material,
) {
  /** Writes leads up to the first one that needs a look: it has no time, or does not fit. */
  function writeAtOnce(from: number, most: number): number {
    if (!isSameConnection) return 0;
    const { untimed, oldestMs } = staging.summarize(from, most, null);
    if (untimed > 0 || oldestMs === null || !writer.acceptsAllFrom(oldestMs)) return 0;
    const written = insertMany(database, record, { from, to: from + most }, options);
    const summary = staging.summarize(from, written, writer.newestBefore());
    if (summary.oldestMs === null || summary.newestMs === null) return 0;
    writer.noteNewest(summary.newestMs);
    noteAdded(record, { ...summary, oldestMs: summary.oldestMs, newestMs: summary.newestMs });
    return written;
  }
  function writeEach(from: number, most: number): number {
    let written = 0;
    for (const lead of staging.read(from, most)) {
      noteOutcome(record, writer.write(lead));
      written++;
    }
    return written;
  }
  return (from: number, most: number): number => {
    const written = writeAtOnce(from, most);
    return written === most ? most : written + writeEach(from + written, most - written);
  };
}

/**
 * Writes the leads of some places by one statement, which takes half of the time, and tells how many went in. It ends at
 * the first that does not fit: its id or its millisecond is there, its pixel is not.
 */
function insertMany(
  database: Connection,
  { account, number }: BatchRecord,
  { from, to }: { readonly from: number; readonly to: number },
  { dryRun }: ImportOptions,
): number {
  try {
    // OR FAIL keeps what went in before. With ABORT, foreign keys, a function or a key that is given, SQLite would copy
    // each page before it changes it: a third of the time, and half of what is written.
    database.run(sql`
      INSERT OR FAIL INTO ${leads} (account, identified_at, uuid, pixel, state, city_key, has_email, import, doc)
      SELECT ${account}, staged.at, uuid, pixels.number, state, city_key, has_email, ${number},
        ${dryRun ? sql`''` : sql`document`}
      FROM in_order CROSS JOIN staged ON staged.place = in_order.lead
        LEFT JOIN ${pixels} ON pixels.account = ${account} AND pixels.id = staged.pixel
      WHERE in_order.place > ${from} AND in_order.place <= ${to} ORDER BY in_order.place`);
  } catch (cause) {
    if (!codeOf(cause).startsWith("SQLITE_CONSTRAINT")) throw cause;
  }
  return changedRows(database);
}
