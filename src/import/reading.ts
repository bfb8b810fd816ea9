/** The first half of an import: it reads a file to its end, and puts every row aside as a lead or as rejected. */
import { oldestKeptMs } from "../contract/calendar.ts";
import { type Columns, linesAbove, namesMore } from "./map/columns/columns.ts";
import type { Warning } from "./map/lead/details.ts";
import { type LeadRules, readLead } from "./map/lead/lead.ts";
import { createDayOrder } from "./map/values/day-order.ts";
import { emptyCounts, type ImportCounts, type ImportOptions, type RejectedRow } from "./new-lead.ts";
import { type OlderLetters, toUtf8 } from "./parse/file/encoding.ts";
import { type Format, openRows } from "./parse/file/format.ts";
import type { Source } from "./parse/file/source.ts";
import type { Row } from "./row.ts";
import type { StagedImport } from "./staged-import.ts";

export interface Reading {
  readonly source: Source;
  readonly columns: Columns;
  readonly rules: LeadRules;
  readonly options: Pick<ImportOptions, "onDuplicate" | "createPixels">;
  /** Leads that are older are rejected; null keeps them all. */
  readonly retainDays: number | null;
  readonly staged: Pick<StagedImport, "add" | "reject" | "isStored" | "hasPixel">;
  readonly now: () => number;
}

/** Hears what is noticed on the way. */
export interface Listener {
  /** Once the columns are known, while nothing is put aside yet. */
  readonly onColumns: (format: Format) => void;
  /** For each line that was not UTF-8. */
  readonly onLegacyLine: (letters: OlderLetters) => void;
  readonly onReject: (row: RejectedRow) => void;
  /** For each row of which something was left out. */
  readonly onWarning: (warning: Warning) => void;
  /** How many rows were read so far. */
  readonly onProgress: (rows: number) => void;
}

export interface FileRead {
  readonly format: Format;
  /** What is decided by then: rejected rows, and duplicates that need no pixel. */
  readonly counts: Readonly<ImportCounts>;
  /** The pixels of the leads that were put aside. */
  readonly pixels: ReadonlySet<string>;
  /** How many dates have day and month perhaps the other way round. */
  readonly doubtfulDates: number;
  /** The line that looks like the header, where it is not the first one. */
  readonly otherHeader: number | null;
}

/** At most this many pixels are kept in memory; a file may name another one in each row. */
const mostPixels = 10_000;

/** Reads to the end. Throws a UserError where the file cannot be understood. */
export async function readFile(reading: Reading, listener: Listener): Promise<FileRead> {
  const { source, columns, now } = reading;
  const pixels = new Set<string>();
  const rows = await openRows(toUtf8(source.chunks, listener.onLegacyLine), columns);
  const counts = emptyCounts();
  if (rows === null) return { format: { kind: "ndjson" }, counts, pixels, doubtfulDates: 0, otherHeader: null };
  const order = createDayOrder(reading.rules);
  const rules = { ...reading.rules, onTime: order.note, knownPixels: pixels };
  const putAside = openPutAside({ ...reading, rules }, pixels, counts, listener);
  let isAnnounced = false;
  let read = 0;
  let otherHeader: number | null = null;
  for await (const group of rows.groups) {
    if (!isAnnounced && columns.names.length > 0) {
      listener.onColumns(rows.format);
      isAnnounced = true;
    }
    otherHeader ??= headerAmong(group.slice(0, Math.max(0, linesAbove - read)), columns);
    const nowMs = now();
    for (const row of group) putAside(row, nowMs);
    read += group.length;
    listener.onProgress(read);
  }
  const doubtfulDates = rules.stamp === "source" ? order.doubtful() : 0;
  return { format: rows.format, counts, pixels, doubtfulDates, otherHeader };
}

/** The line of the first of some rows that would be a better header. */
function headerAmong(rows: readonly Row[], columns: Columns): number | null {
  return rows.find(({ source }) => typeof source !== "string" && namesMore(columns, source))?.line ?? null;
}

/** Makes what puts a row aside, as a lead or as rejected. */
function openPutAside(
  reading: Reading,
  pixels: Set<string>,
  counts: ImportCounts,
  { onReject, onWarning }: Listener,
): (row: Row, nowMs: number) => void {
  const { columns, rules, staged, options } = reading;
  function reject({ line, source }: Row, reason: string): void {
    counts.read++;
    counts.rejected++;
    const rejected = { line, reason, source };
    staged.reject(rejected);
    onReject(rejected);
  }
  function acceptsPixel(id: string): boolean {
    // A file has few, and each is asked for once.
    if (pixels.has(id)) return true;
    if (!options.createPixels && !staged.hasPixel(id)) return false;
    if (pixels.size < mostPixels) pixels.add(id);
    return true;
  }
  return (row, nowMs) => {
    const found = readLead(row, columns, rules, nowMs);
    if ("fault" in found) return reject(row, found.fault);
    const { lead, warnings } = found;
    for (const warning of warnings) onWarning(warning);
    if (lead.identifiedMs !== null && lead.identifiedMs < oldestKeptMs(reading.retainDays, nowMs)) {
      return reject(row, `it is too old: the account keeps leads as retain --days ${reading.retainDays} has set`);
    }
    if (acceptsPixel(lead.pixelId)) return staged.add(lead);
    if (options.onDuplicate === "replace" || !staged.isStored(lead.id)) {
      return reject(row, `the account has no pixel ${lead.pixelId} (--create-pixels makes it)`);
    }
    // A lead that is there already and stays as it is needs no pixel.
    counts.read++;
    counts.duplicates++;
  };
}
