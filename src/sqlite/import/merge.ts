/**
 * What was put aside goes in, oldest first: whatever is committed is an ascending run, so that a client which polls with
 * `since` meets every lead that is newer than what the account had, in whatever order the file lies.
 */
import type { ImportCounts, ImportOptions, ImportOrigin, ImportOutcome, MergeProgress } from "../../store/imports.ts";
import type { AccountNumber } from "../../store/reading.ts";
import type { Connection } from "../connection.ts";
import { inLargeTransactions, type Portions } from "../locks/large-transactions.ts";
import { type BatchRecord, nextBatch, recordBatch } from "./batches.ts";
import { openPlacer } from "./place.ts";
import type { StagedLead, Staging } from "./staging.ts";

/** So many take a few hundredths of a second. */
const leadsAtOnce = 500;

interface Material {
  readonly options: ImportOptions;
  readonly origin: ImportOrigin;
  readonly staging: Pick<Staging, "read">;
}

export interface Merge {
  /** Each step is a transaction that is on the disk; the counts begin with what was judged before. */
  run(before: ImportCounts, now: () => number): AsyncGenerator<MergeProgress>;
  /** The number of the batch; null while nothing was added. */
  batch(): number | null;
}

export function openMerge(database: Connection, account: AccountNumber, material: Material): Merge {
  const { options, origin, staging } = material;
  const placer = openPlacer(database, account, options);
  const record: BatchRecord = { number: 0, account, isThere: false, oldestMs: null, newestMs: null, ...origin };

  function writeOne(lead: StagedLead, counts: ImportCounts): void {
    const placed = placer.write(lead);
    countOutcome(placed, lead.clamped, counts);
    if (placed.kind !== "imported") return;
    record.oldestMs = Math.min(record.oldestMs ?? placed.atMs, placed.atMs);
    record.newestMs = Math.max(record.newestMs ?? placed.atMs, placed.atMs);
  }

  function portions(counts: ImportCounts, now: () => number, wentOn: (done: number) => void): Portions {
    let done = 0;
    return {
      begin() {
        if (!record.isThere && !options.dryRun) record.number = nextBatch(database);
        placer.begin({ batch: record.number, nowMs: now(), stampMs: origin.startedMs });
      },
      step() {
        const leads = staging.read(done, leadsAtOnce);
        for (const lead of leads) writeOne(lead, counts);
        done += leads.length;
        return leads.length === leadsAtOnce;
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
