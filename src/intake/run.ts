/** One import from beginning to end: rows are read, written in short transactions, and counted. */
import type { ImportOutcome, LeadImport, NewLead } from "../store.ts";
import type { Columns } from "./columns.ts";
import { type LeadRules, type Oddity, readLead } from "./lead.ts";
import type { Rejects } from "./rejects.ts";
import type { Row } from "./rows.ts";

/** read = imported + duplicates + replaced + suppressed + rejected. */
export interface Counts {
  read: number;
  imported: number;
  duplicates: number;
  replaced: number;
  /** Leads that lie later than their source says, because the millisecond was taken or the clock behind. */
  moved: number;
  /** Leads that clients which poll have passed already. */
  late: number;
  suppressed: number;
  rejected: number;
}

export interface Run {
  readonly groups: AsyncIterable<readonly Row[]>;
  readonly columns: Columns;
  readonly rules: LeadRules;
  readonly target: LeadImport;
  readonly rejects: Rejects | null;
  readonly now: () => number;
  /** Hears of every row that is rejected. */
  readonly onReject: (row: Row, reason: string) => void;
  /** Hears of values that were left out of a lead. */
  readonly onOddity: (oddity: Oddity) => void;
  readonly onProgress: (counts: Readonly<Counts>) => void;
}

/** Rows for one transaction; the store ends it sooner when its time is up. */
const rowsAtOnce = 1000;

export function emptyCounts(): Counts {
  return { read: 0, imported: 0, duplicates: 0, replaced: 0, moved: 0, late: 0, suppressed: 0, rejected: 0 };
}

/** Runs the import and counts into `counts`, which are true of the file at every moment, should it be cut short. */
export async function runImport(run: Run, counts: Counts): Promise<void> {
  let waiting: Row[] = [];
  for await (const group of run.groups) {
    waiting.push(...group);
    if (waiting.length < rowsAtOnce) continue;
    for (let start = 0; start < waiting.length; start += rowsAtOnce) {
      await importRows(run, waiting.slice(start, start + rowsAtOnce), counts);
    }
    waiting = [];
  }
  await importRows(run, waiting, counts);
}

async function importRows(run: Run, rows: readonly Row[], counts: Counts): Promise<void> {
  const nowMs = run.now();
  const accepted: { row: Row; lead: NewLead; clamped: boolean }[] = [];
  for (const row of rows) {
    const reading = readLead(row, run.columns, run.rules, nowMs);
    if ("fault" in reading) {
      reject(run, row, reading.fault, counts);
      continue;
    }
    for (const oddity of reading.oddities) run.onOddity(oddity);
    accepted.push({ row, ...reading });
  }
  for (let done = 0; done < accepted.length; ) {
    const rest = accepted.slice(done);
    const outcomes = run.target.write(
      rest.map(({ lead }) => lead),
      nowMs,
    );
    for (const [position, outcome] of outcomes.entries()) {
      const written = rest[position];
      if (written === undefined) throw new Error("the store has an outcome for a lead that it was not given");
      tally(run, written, outcome, counts);
    }
    done += outcomes.length;
    run.onProgress(counts);
    // Between two transactions whoever waits for the file gets it, and signals are heard.
    await Bun.sleep(0);
  }
}

function tally(
  run: Run,
  { row, clamped }: { row: Row; clamped: boolean },
  outcome: ImportOutcome,
  counts: Counts,
): void {
  switch (outcome.kind) {
    case "rejected":
      reject(run, row, outcome.reason, counts);
      return;
    case "duplicate":
      counts.duplicates++;
      break;
    case "replaced":
      counts.replaced++;
      break;
    case "imported":
      counts.imported++;
      if (outcome.moved || clamped) counts.moved++;
      if (outcome.late) counts.late++;
  }
  counts.read++;
}

function reject(run: Run, row: Row, reason: string, counts: Counts): void {
  counts.read++;
  counts.rejected++;
  run.rejects?.add(row, reason);
  run.onReject(row, reason);
}
