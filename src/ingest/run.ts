/** The first half of an import: it reads a file to its end, and puts every row aside as a lead or as rejected. */
import { dayMs } from "../contract/time.ts";
import type { ImportCounts, NewLead, RejectedRow, StagedImport } from "../store/imports.ts";
import type { Columns } from "./columns/columns.ts";
import type { Warning } from "./lead/details.ts";
import { type LeadRules, readLead } from "./lead/lead.ts";
import type { Row } from "./row.ts";

/** What a row is judged by. */
export interface Judging {
  readonly rules: LeadRules;
  readonly onDuplicate: "skip" | "replace";
  readonly createPixels: boolean;
  /** Leads that are older are rejected; null keeps them all. */
  readonly retainDays: number | null;
}

export interface Reading extends Judging {
  readonly groups: AsyncIterable<readonly Row[]>;
  readonly columns: Columns;
  readonly staged: Pick<StagedImport, "add" | "reject" | "isStored" | "hasPixel">;
  readonly now: () => number;
  /** Hears of every row that is rejected. */
  readonly onReject: (row: RejectedRow) => void;
  /** Hears of values that were left out of a lead. */
  readonly onWarning: (warning: Warning) => void;
  /** Hears how many rows were read so far. */
  readonly onProgress: (rows: number) => void;
}

/** So many pixels are kept in memory; a file may name another one in each row. */
const mostPixels = 10_000;

/**
 * Reads to the end, and counts what is decided by then: rejected rows, and duplicates that need no pixel. Returns the
 * pixels of the leads that were put aside.
 */
export async function readToEnd(reading: Reading, counts: ImportCounts): Promise<ReadonlySet<string>> {
  const { groups, now } = reading;
  const judge = createJudge(reading);
  const pixels = new Set<string>();
  let read = 0;
  for await (const rows of groups) {
    const nowMs = now();
    for (const row of rows) {
      const pixel = readRow(reading, judge, row, { nowMs, counts });
      if (pixel !== null && pixels.size < mostPixels) pixels.add(pixel);
    }
    read += rows.length;
    reading.onProgress(read);
  }
  return pixels;
}

type Judge = (lead: NewLead, nowMs: number) => Verdict;

/** Puts one row aside; the pixel of a lead that it is, null where it is none that goes in. */
function readRow(reading: Reading, judge: Judge, row: Row, at: { nowMs: number; counts: ImportCounts }): string | null {
  const found = readLead(row, reading.columns, reading.rules, at.nowMs);
  if ("fault" in found) {
    reject(reading, row, found.fault, at.counts);
    return null;
  }
  for (const warning of found.warnings) reading.onWarning(warning);
  const verdict = judge(found.lead, at.nowMs);
  if (verdict === "accepted") {
    reading.staged.add(found.lead);
    return found.lead.pixelId;
  }
  if (verdict === "duplicate") countDuplicate(at.counts);
  else reject(reading, row, verdict.fault, at.counts);
  return null;
}

type Verdict = "accepted" | "duplicate" | { readonly fault: string };

/** What can be told of a lead without writing it: whether it has a pixel, and is young enough. */
function createJudge({ staged, onDuplicate, createPixels, retainDays }: Reading): Judge {
  /** A file names few pixels, and each is asked for once. */
  const known = new Map<string, boolean>();
  function hasPixel(id: string): boolean {
    const answer = known.get(id) ?? staged.hasPixel(id);
    if (known.size < mostPixels) known.set(id, answer);
    return answer;
  }
  return (lead, nowMs) => {
    if (lead.identifiedMs !== null && retainDays !== null && lead.identifiedMs < nowMs - retainDays * dayMs) {
      return { fault: `it is older than the ${retainDays} days for which the account keeps leads` };
    }
    if (createPixels || hasPixel(lead.pixelId)) return "accepted";
    // A lead that is there already and stays as it is needs no pixel.
    if (onDuplicate === "skip" && staged.isStored(lead.id)) return "duplicate";
    return { fault: `the account has no pixel ${lead.pixelId} (--create-pixels makes it)` };
  };
}

function countDuplicate(counts: ImportCounts): void {
  counts.read++;
  counts.duplicates++;
}

function reject({ staged, onReject }: Reading, { line, source }: Row, reason: string, counts: ImportCounts): void {
  counts.read++;
  counts.rejected++;
  const rejected = { line, reason, source };
  staged.reject(rejected);
  onReject(rejected);
}
