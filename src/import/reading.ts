/** The first half of an import: reads a source to its end, and stages every row as a lead or as rejected. */
import { oldestKeptMs } from "../contract/calendar.ts";
import { UserError } from "../runtime/user-error.ts";
import type { Columns } from "./map/columns.ts";
import { emptyRow, type KeptLead, type LeadRules, noPixel, readLead } from "./map/lead.ts";
import { type Undecided, undecidedColumn } from "./map/visit-time.ts";
import { emptyCounts, type ImportOptions } from "./new-lead.ts";
import { type LegacyEncoding, toText } from "./parse/encoding.ts";
import { type Format, openRows } from "./parse/format.ts";
import type { Source } from "./parse/source.ts";
import { maxRejectedLength, type ReadRow, type RejectedRow, type Row } from "./row.ts";
import type { StagedImport } from "./write/import.ts";

/** The source, the rules, and the staging of an import. The functions are called while the source is read. */
export interface Reading {
  readonly source: Source;
  readonly columns: Columns;
  readonly rules: LeadRules;
  readonly options: Pick<ImportOptions, "onDuplicate" | "createPixels">;
  /** Leads that are older are rejected; null keeps them all. */
  readonly retainDays: number | null;
  readonly staged: Pick<StagedImport, "add" | "reject" | "isStored" | "hasPixel">;
  readonly now: () => number;
  /** Called with the first rows, before anything is staged. What it throws ends the reading. */
  readonly onFirstRows?: (rows: readonly Row[], format: Format) => Promise<void>;
  /** Called with the number of rows read so far. */
  readonly onProgress?: (rows: number) => void;
}

/** The result of a source that was read to its end: its format, counts, warnings, and why it looks wrong. */
export type FileRead = Awaited<ReturnType<typeof readFile>>;

/** The number of first rows that determine how a file is read, and which questions are asked before the rest is read. */
const maxFirstRows = 1000;
/** Large rows are fewer. */
const maxFirstBytes = 8 * 1024 * 1024;

/**
 * Reads a source to its end. Throws a UserError if its format is not understood, if the order of its dates is not decided,
 * or if no row names a pixel.
 */
export async function readFile(reading: Reading) {
  const { source, columns, now } = reading;
  const stage = new Stage(reading);
  const texts = toText(source.chunks, (encoding) => increment(stage.notes.legacyLines, encoding));
  const rows = await openRows(texts, columns);
  const take = (group: readonly ReadRow[]) => {
    const nowMs = now();
    for (const row of group) stage.take(row, nowMs);
    read += group.length;
    reading.onProgress?.(read);
  };
  let read = 0;
  let first: ReadRow[] | null = [];
  let firstBytes = 0;
  for await (const group of rows.groups) {
    if (first === null) {
      take(group);
      continue;
    }
    for (const row of group) {
      first.push(row);
      firstBytes += bytesOf(row);
    }
    if (first.length >= maxFirstRows || firstBytes > maxFirstBytes) {
      await announce(reading, first, rows.format);
      take(first);
      first = null;
    }
  }
  if (first !== null) {
    await announce(reading, first, rows.format);
    take(first);
  }
  return { format: rows.format, ...stage.end() };
}

async function announce({ onFirstRows, columns }: Reading, rows: readonly ReadRow[], format: Format): Promise<void> {
  if (columns.all.length === 0) return;
  await onFirstRows?.(
    rows.filter((row): row is Row => !("reason" in row)),
    format,
  );
}

function increment<Key>(counts: Map<Key, number>, key: Key): void {
  counts.set(key, (counts.get(key) ?? 0) + 1);
}

/** The limit of memory for rows that wait for the order of a column of dates. */
const maxWaitingBytes = 64 * 1024 * 1024;
/** The limit of pixels in memory; a file may name another one in each row. */
const maxPixels = 10_000;
/** The limit of different warnings: some name the objects of a record. */
const maxWarnings = 100;
/** The limit of rejected rows that are noted with their line. */
const maxNoted = 5;

/** Stages rows as leads or as rejected, in their order. */
class Stage {
  /** The first rows that were rejected, apart from empty ones. */
  private readonly rejected: Pick<RejectedRow, "line" | "reason">[] = [];
  /** The warnings about the rows, and why some were rejected. */
  readonly notes = {
    /** The number of lines that were not UTF-8, by the encoding in which they were read. */
    legacyLines: new Map<LegacyEncoding, number>(),
    warnings: new Map<string, number>(),
    rejected: this.rejected,
    /** The number of rejected rows by reason, without quoted values. */
    reasons: new Map<string, number>(),
  };
  /** The counts before the merge: rejected rows, and duplicates that need no pixel. */
  private readonly counts = emptyCounts();
  /** The pixels of the leads that were staged. */
  private readonly pixels = new Set<string>();
  private readonly rules: LeadRules;
  /** True if a file in which no row names a pixel is refused as a whole. */
  private readonly mustNamePixel: boolean;
  private namesPixel = false;
  /** The number of leads of a record that names a person. */
  private named = 0;
  /** Pending rows: from the first ambiguous date until another date in its column resolves the order. */
  private waiting: ReadRow[] = [];
  private waitingBytes = 0;
  private waitsFor: Undecided | null = null;

  constructor(private readonly reading: Reading) {
    this.rules = reading.rules;
    this.mustNamePixel = this.rules.pixelId === null && this.rules.mode !== "delivery";
  }

  take(row: ReadRow, nowMs: number): void {
    if (this.waitsFor === null) this.waitsFor = this.stage(row, nowMs);
    // For a pending row, reading the time also records the date order.
    else if (!("reason" in row)) readLead(row, this.rules, nowMs);
    if (this.waitsFor === null) return;
    this.waiting.push(row);
    this.waitingBytes += bytesOf(row);
    if (this.rules.orders.use(this.waitsFor.column) !== null) this.release(nowMs);
    else if (this.waitingBytes > maxWaitingBytes) throw undecidedColumn(this.waitsFor);
  }

  /** Returns the result. Throws a UserError if the order of dates is not decided, or if no row names a pixel. */
  end() {
    if (this.waitsFor !== null) throw undecidedColumn(this.waitsFor);
    const { counts, notes, pixels } = this;
    if (this.mustNamePixel && !this.namesPixel && notes.reasons.has(noPixel)) throw namesNoPixel();
    return { counts, notes, pixels, named: this.named };
  }

  /** Stages the rows that wait, up to the first one whose column is still not decided. */
  private release(nowMs: number): void {
    const rows = this.waiting;
    this.waiting = [];
    this.waitingBytes = 0;
    this.waitsFor = null;
    for (const row of rows) this.take(row, nowMs);
  }

  /** Stages a row; returns the date whose column has to be decided first. */
  private stage(row: ReadRow, nowMs: number): Undecided | null {
    if ("reason" in row) return this.reject(row, row.reason);
    const found = readLead(row, this.rules, nowMs);
    if ("undecided" in found) return found.undecided;
    if ("lead" in found) return this.stageLead(row, found, nowMs);
    const hasNoColumn = typeof row.source !== "string" && row.layout.fallback.of.pixel_id === undefined;
    if (found.fault === noPixel && this.mustNamePixel && hasNoColumn) throw namesNoPixel();
    return this.reject(row, found.fault);
  }

  private stageLead(row: Row, { lead, warnings, origin, namesPerson }: KeptLead, nowMs: number): null {
    const { staged, retainDays, columns } = this.reading;
    this.namesPixel = true;
    const { warnings: counts } = this.notes;
    for (const warning of warnings) if (counts.has(warning) || counts.size < maxWarnings) increment(counts, warning);
    if (namesPerson) this.named++;
    if (lead.identifiedMs !== null && lead.identifiedMs < oldestKeptMs(retainDays, nowMs)) {
      return this.reject(row, `it is older than the retention period of the account (retain --days ${retainDays})`);
    }
    if (this.acceptsPixel(lead.pixelId)) {
      columns.origins.add(origin);
      staged.add({ ...lead, origin: new Uint16Array(origin), arrivedMs: row.arrivedMs ?? null });
    } else if (staged.isStored(lead.id)) {
      // An unchanged lead that is already stored needs no pixel.
      this.counts.read++;
      this.counts.duplicates++;
    } else this.reject(row, `the account has no pixel ${lead.pixelId} (--create-pixels makes it)`);
    return null;
  }

  private reject({ line, source }: ReadRow, reason: string): null {
    const { rejected, reasons } = this.notes;
    this.counts.read++;
    this.counts.rejected++;
    this.reading.staged.reject({ line, reason, source: shortened(source, this.reading.columns.all.length) });
    increment(reasons, withoutValues(reason));
    if (reason !== emptyRow && rejected.length < maxNoted) rejected.push({ line, reason });
    return null;
  }

  private acceptsPixel(id: string): boolean {
    const { staged, options } = this.reading;
    // A file has few, and each is looked up once.
    if (this.pixels.has(id)) return true;
    if (!options.createPixels && !staged.hasPixel(id)) return false;
    if (this.pixels.size < maxPixels) this.pixels.add(id);
    return true;
  }
}

/** Returns about how much memory a row takes: its texts, an object, and a reference for each of its cells. */
function bytesOf(row: ReadRow): number {
  const { source } = row;
  const length = typeof source === "string" ? source.length : source.reduce((sum, cell) => sum + cell.length, 0);
  return 200 + 2 * length + ("cells" in row ? 32 * row.cells.length : 0);
}

function namesNoPixel(): UserError {
  return new UserError(
    "No row of the file names a pixel. Nothing was imported.",
    "Add --pixel px_site --create-pixels, with the ID of your pixel instead of px_site.",
  );
}

/** Removes from a reason what it quotes of the row. */
function withoutValues(reason: string): string {
  return reason.replace(/:? "(?:[^"\\]|\\.)*"/g, "").replace(/(the account has no pixel) .* \(/, "$1 of this ID (");
}

/**
 * Truncates a row that is too long for the rejects file. A CSV row is cut after a whole cell, so that it has too few
 * cells and is rejected again until it is completed.
 */
function shortened(source: Row["source"], width: number): Row["source"] {
  if (typeof source === "string") return source.slice(0, maxRejectedLength);
  let length = 0;
  const end = source.findIndex((cell) => (length += cell.length) > maxRejectedLength);
  return end === -1 ? source : source.slice(0, Math.min(end, width - 1));
}
