/**
 * What was put aside goes in, oldest first: whatever is committed is an ascending run, so that a client which polls with
 * `since` meets every lead that is newer than what the account had, in whatever order the file lies.
 */
import type { ImportCounts, ImportOptions, ImportOrigin, ImportOutcome, MergeProgress } from "../../store/imports.ts";
import type { AccountNumber } from "../../store/reading.ts";
import type { Connection } from "../connection.ts";
import { inLargeTransactions, type Portions } from "../locks/large-transactions.ts";
import { type BatchRecord, nextBatch, recordBatch } from "./batches.ts";
import { openPlacer, type Placer } from "./place.ts";
import type { Staging } from "./staging.ts";
import { createStepSize } from "./step-size.ts";
import type { Stretches } from "./stretches.ts";

/** A step is short, because another writer waits for its end. */
const steps = { least: 500, most: 8_000, shortMs: 60, longMs: 150 };

interface Material {
  readonly options: ImportOptions;
  readonly origin: ImportOrigin;
  readonly staging: Pick<Staging, "read">;
  /** Null where the leads were put aside on another connection. */
  readonly stretches: Stretches | null;
}

export interface Merge {
  /** Each step is a transaction that is on the disk; the counts begin with what was judged before. */
  run(before: ImportCounts, now: () => number): AsyncGenerator<MergeProgress>;
  /** The number of the batch; null while nothing was added. */
  batch(): number | null;
}

export function openMerge(database: Connection, account: AccountNumber, material: Material): Merge {
  const { options, origin } = material;
  const placer = openPlacer(database, account, options);
  const record: BatchRecord = { number: 0, account, isThere: false, oldestMs: null, newestMs: null, ...origin };
  const writeSome = openWriting(placer, record, material);

  function portions(counts: ImportCounts, now: () => number, wentOn: (done: number) => void): Portions {
    const size = createStepSize(steps);
    let done = 0;
    return {
      begin() {
        if (!record.isThere && !options.dryRun) record.number = nextBatch(database);
        placer.begin({ batch: record.number, nowMs: now(), stampMs: origin.startedMs });
      },
      step() {
        const most = size.leads();
        const leads = size.timed(() => writeSome(done, most, counts));
        done += leads;
        return leads === most;
      },
      end(isDone) {
        wentOn(done);
        if (!options.dryRun) recordBatch(database, record, counts, isDone ? now() : null);
      },
    };
  }

  return {
    async *run(before, now) {
      const counts = { ...before };
      let done = 0;
      const work = portions(counts, now, (leads) => {
        done = leads;
      });
      for await (const _ of options.dryRun ? runDry(work) : inLargeTransactions(database, work)) {
        yield { done, counts: { ...counts } };
      }
    },
    batch: () => (record.isThere ? record.number : null),
  };
}

/** Writes so many leads from a place on, or all that are left, adds them to the counts, and tells how many there were. */
function openWriting(placer: Placer, record: BatchRecord, { staging, stretches }: Material) {
  function spanTo(oldestMs: number, newestMs: number): void {
    record.oldestMs = Math.min(record.oldestMs ?? oldestMs, oldestMs);
    record.newestMs = Math.max(record.newestMs ?? newestMs, newestMs);
  }

  function writeEach(from: number, most: number, counts: ImportCounts): number {
    const leads = staging.read(from, most);
    for (const lead of leads) {
      const placed = placer.write(lead);
      countOutcome(placed, lead.clamped, counts);
      if (placed.kind === "imported") spanTo(placed.atMs, placed.atMs);
    }
    return leads.length;
  }

  /** Writes the leads from a place on by one statement, and tells how many; null where each has to be looked at. */
  function writeStretch(from: number, most: number, counts: ImportCounts): number | null {
    const stretch = stretches?.look(from, most, placer.newestBefore());
    if (stretch === undefined || stretch.untimed > 0) return null;
    const { leads, oldestMs, newestMs } = stretch;
    if (oldestMs === null || newestMs === null || !placer.takesAllFrom(oldestMs)) return null;
    if (stretches?.insert(stretch, record.number) !== true) return null;
    placer.wentOnTo(newestMs);
    spanTo(oldestMs, newestMs);
    counts.read += leads;
    counts.imported += leads;
    counts.moved += stretch.clamped;
    counts.late += stretch.older;
    return leads;
  }

  return (from: number, most: number, counts: ImportCounts): number =>
    writeStretch(from, most, counts) ?? writeEach(from, most, counts);
}

/** A dry run writes to tables of its own, and needs no lock. */
function* runDry({ begin, step, end }: Portions): Generator<void> {
  begin();
  while (step()) yield;
  end(true);
  yield;
}

/** Adds what became of a lead to the counts. */
export function countOutcome(placed: ImportOutcome, clamped: boolean, counts: ImportCounts): void {
  counts.read++;
  switch (placed.kind) {
    case "imported":
      counts.imported++;
      if (placed.moved || clamped) counts.moved++;
      if (placed.late) counts.late++;
      return;
    case "duplicate":
      counts.duplicates++;
      return;
    default:
      counts[placed.kind]++;
  }
}
