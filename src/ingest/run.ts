/** One import from beginning to end: rows are read, written in short transactions, and counted. */
import type { ImportOutcome, ImportWorker } from "../store/imports.ts";
import type { Columns } from "./columns.ts";
import type { Warning } from "./details.ts";
import { type LeadRules, type ReadLead, readLead } from "./lead.ts";
import type { Rejects } from "./rejects.ts";
import type { Row } from "./row.ts";

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
  readonly target: Pick<ImportWorker, "write">;
  readonly rejects: Rejects | null;
  readonly now: () => number;
  /** Hears of every row that is rejected. */
  readonly onReject: (row: Row, reason: string) => void;
  /** Hears of values that were left out of a lead. */
  readonly onWarning: (warning: Warning) => void;
  readonly onProgress: (counts: Readonly<Counts>) => void;
}

/** Enough rows to be worth a transaction, few enough to be held. */
const rowsAtOnce = 2500;
/** Rows can be large: fewer are held where they are. */
const charactersAtOnce = 4 * 1024 * 1024;

export function emptyCounts(): Counts {
  return { read: 0, imported: 0, duplicates: 0, replaced: 0, moved: 0, late: 0, suppressed: 0, rejected: 0 };
}

/** Runs the import and counts into `counts`, which are true of the file at every moment, should it be cut short. */
export async function runImport(run: Run, counts: Counts): Promise<void> {
  let writing: Promise<void> = Promise.resolve();
  let waiting: Promise<void> = Promise.resolve();
  for await (const rows of inPortions(run.groups)) {
    const nowMs = run.now();
    // While one portion is written and the next one lies ready for it, these are read.
    const readings = rows.map((row) => ({ row, reading: readLead(row, run.columns, run.rules, nowMs) }));
    await writing;
    writing = waiting;
    waiting = write(run, readings, nowMs, counts);
    // A failure is thrown at a later await; until then nobody has to hear of it.
    waiting.catch(() => undefined);
  }
  await writing;
  await waiting;
}

async function* inPortions(groups: Run["groups"]): AsyncGenerator<readonly Row[]> {
  let waiting: Row[] = [];
  let characters = 0;
  for await (const group of groups) {
    for (const row of group) {
      waiting.push(row);
      characters += sizeOf(row.source);
    }
    if (waiting.length < rowsAtOnce && characters < charactersAtOnce) continue;
    yield waiting;
    waiting = [];
    characters = 0;
  }
  if (waiting.length > 0) yield waiting;
}

function sizeOf(source: Row["source"]): number {
  if (typeof source === "string") return source.length;
  let characters = 0;
  for (const cell of source) characters += cell.length;
  return characters;
}

interface Read {
  readonly row: Row;
  readonly reading: ReadLead;
}

async function write(run: Run, readings: readonly Read[], nowMs: number, counts: Counts): Promise<void> {
  const leads = readings.flatMap(({ reading }) => ("lead" in reading ? [reading.lead] : []));
  const outcomes = (await run.target.write(leads, nowMs))[Symbol.iterator]();
  for (const { row, reading } of readings) {
    if ("fault" in reading) {
      reject(run, row, reading.fault, counts);
      continue;
    }
    for (const warning of reading.warnings) run.onWarning(warning);
    const outcome = outcomes.next().value;
    if (outcome === undefined) throw new Error("the store has lost a lead on its way");
    tally(run, row, reading.clamped, outcome, counts);
  }
  run.onProgress(counts);
}

function tally(run: Run, row: Row, clamped: boolean, outcome: ImportOutcome, counts: Counts): void {
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
    case "suppressed":
      counts.suppressed++;
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
