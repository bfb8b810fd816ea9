/** The first half of an import: reads a source to its end, and stages every row as a lead or as rejected. */
import { oldestKeptMs } from "../contract/calendar.ts";
import { UserError } from "../user-error.ts";
import type { Columns } from "./map/columns.ts";
import { emptyRow, type LeadRules, noPixel, readLead } from "./map/lead.ts";
import { mapOption, maxLinesAbove, namesMore } from "./map/report.ts";
import { isTime } from "./map/values/times.ts";
import { type Undecided, undecided } from "./map/visit-time.ts";
import type { Warning } from "./map/warnings.ts";
import { emptyCounts, type ImportCounts, type ImportOptions, type NewLead, type RejectedRow } from "./new-lead.ts";
import { type OlderLetters, toUtf8 } from "./parse/encoding.ts";
import { type Format, openRows } from "./parse/format.ts";
import type { Source } from "./parse/source.ts";
import { firstText, type Row } from "./row.ts";
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

/** Is told how far the reading is. */
export interface Listener {
  /** Called once the columns are known, before anything is staged. */
  readonly onColumns?: (format: Format) => void;
  /** Called with the number of rows read so far. */
  readonly onProgress?: (rows: number) => void;
}

/** What was noticed in the rows of a file. */
export interface Notes {
  /** The number of lines that were not UTF-8, by the letters as which they were read. */
  readonly legacyLines: Map<OlderLetters, number>;
  readonly warnings: Map<Warning, number>;
  /** The first rows that were rejected, apart from empty ones. */
  readonly rejected: Pick<RejectedRow, "line" | "reason">[];
  /** The number of rejected rows by their reason, without what it quotes of the row. */
  readonly reasons: Map<string, number>;
}

export interface FileRead {
  readonly format: Format;
  /** What is decided by then: rejected rows, and duplicates that need no pixel. */
  readonly counts: Readonly<ImportCounts>;
  readonly notes: Notes;
  /** The pixels of the leads that were staged. */
  readonly pixels: ReadonlySet<string>;
  /** Why the time of the visit is in doubt, and the flag that settles it; null if it is not. At a terminal, ask. */
  readonly doubt: UserError | null;
  /** The line that looks like the header, if it is not the first one. */
  readonly otherHeader: number | null;
}

/** Reads to the end. Throws a UserError if the source cannot be understood. */
export async function readFile(reading: Reading, listener: Listener = {}): Promise<FileRead> {
  const { source, columns, now } = reading;
  const counts = emptyCounts();
  const notes: Notes = { legacyLines: new Map(), warnings: new Map(), rejected: [], reasons: new Map() };
  const utf8 = toUtf8(source.chunks, (letters) => increment(notes.legacyLines, letters));
  const rows = await openRows(utf8, columns);
  const stage = new Stage(reading, counts, notes);
  let isAnnounced = false;
  let read = 0;
  let otherHeader: number | null = null;
  for await (const group of rows.groups) {
    if (!isAnnounced && columns.all.length > 0) {
      listener.onColumns?.(rows.format);
      isAnnounced = true;
    }
    otherHeader ??= headerAmong(group.slice(0, Math.max(0, maxLinesAbove - read)), columns);
    const nowMs = now();
    for (const row of group) stage.take(row, nowMs);
    read += group.length;
    listener.onProgress?.(read);
  }
  return { format: rows.format, counts, notes, otherHeader, ...stage.end() };
}

/** Adds one to a count. */
function increment<Key>(counts: Map<Key, number>, key: Key): void {
  counts.set(key, (counts.get(key) ?? 0) + 1);
}

/** Returns the line of the first of some rows that would be a better header. */
function headerAmong(rows: readonly Row[], columns: Columns): number | null {
  return rows.find(({ source }) => typeof source !== "string" && namesMore(columns, source))?.line ?? null;
}

/** At most this much memory is held by rows that wait for the order of a column of dates. */
const maxHeldBytes = 64 * 1024 * 1024;

/** At most this many pixels are kept in memory; a file may name another one in each row. */
const maxPixels = 10_000;

/** Stages rows as leads or as rejected, in their order. */
class Stage {
  private readonly pixels = new Set<string>();
  private readonly doubts = openDoubts();
  private readonly rules: LeadRules;
  /** Whether a file in which no row names a pixel is refused as a whole. */
  private readonly mustNamePixel: boolean;
  /** Rows from the first one whose date could be two: they wait until a date of its column decides. */
  private held: Row[] = [];
  private heldBytes = 0;
  private waitsFor: Undecided | null = null;
  private lacksPixel = false;
  private namesPixel = false;

  constructor(
    private readonly reading: Reading,
    private readonly counts: ImportCounts,
    private readonly notes: Notes,
  ) {
    const { rules } = reading;
    this.rules = { ...rules, knownPixels: this.pixels };
    this.mustNamePixel = rules.pixelId === null && !rules.ofDeliveries;
  }

  take(row: Row, nowMs: number): void {
    if (this.waitsFor === null) {
      this.waitsFor = this.stage(row, nowMs);
      if (this.waitsFor !== null) this.hold(row);
      return;
    }
    this.hold(row);
    // Reading its time records the order of its date.
    readLead(row, this.rules, nowMs);
    if (this.rules.orders.of(this.waitsFor.column) !== null) this.release(nowMs);
    else if (this.heldBytes > maxHeldBytes) throw undecided(this.waitsFor.column, this.waitsFor.text);
  }

  private hold(row: Row): void {
    this.held.push(row);
    this.heldBytes += bytesOf(row);
  }

  end(): Pick<FileRead, "pixels" | "doubt"> {
    if (this.waitsFor !== null) throw undecided(this.waitsFor.column, this.waitsFor.text);
    if (this.mustNamePixel && this.lacksPixel && !this.namesPixel) throw namesNoPixel();
    const doubt = this.rules.ofDeliveries ? null : this.doubts.found();
    return { pixels: this.pixels, doubt };
  }

  /** Stages the rows that wait, up to the first one whose column is still not decided. */
  private release(nowMs: number): void {
    const waiting = this.held;
    this.held = [];
    this.heldBytes = 0;
    this.waitsFor = null;
    for (const [place, row] of waiting.entries()) {
      this.waitsFor = this.stage(row, nowMs);
      if (this.waitsFor === null) continue;
      for (const held of waiting.slice(place)) this.hold(held);
      return;
    }
  }

  /** Stages a row; returns the column of dates that has to be decided first. */
  private stage(row: Row, nowMs: number): Undecided | null {
    const found = readLead(row, this.rules, nowMs);
    if ("undecided" in found) return found.undecided;
    if ("fault" in found) {
      if (found.fault === noPixel) this.noteMissingPixel(row);
      this.reject(row, found.fault);
      return null;
    }
    this.namesPixel = true;
    for (const warning of found.warnings) increment(this.notes.warnings, warning);
    if (found.lead.identifiedMs === null && this.rules.stamp === "source") this.doubts.note(row);
    this.stageLead(row, found.lead, nowMs);
    return null;
  }

  private noteMissingPixel({ source, layout }: Row): void {
    this.lacksPixel = true;
    const hasNoColumn = typeof source !== "string" && layout.of.pixel_id === undefined;
    if (this.mustNamePixel && hasNoColumn) throw namesNoPixel();
  }

  private stageLead(row: Row, lead: NewLead, nowMs: number): void {
    const { staged, retainDays } = this.reading;
    if (lead.identifiedMs !== null && lead.identifiedMs < oldestKeptMs(retainDays, nowMs)) {
      this.reject(row, `it is too old: the account keeps leads as retain --days ${retainDays} has set`);
    } else if (this.acceptsPixel(lead.pixelId)) {
      staged.add(lead);
    } else if (!staged.isStored(lead.id)) {
      this.reject(row, `the account has no pixel ${lead.pixelId} (--create-pixels makes it)`);
    } else {
      // A lead that is stored already and stays as it is needs no pixel.
      this.counts.read++;
      this.counts.duplicates++;
    }
  }

  private reject({ line, source }: Row, reason: string): void {
    this.counts.read++;
    this.counts.rejected++;
    this.reading.staged.reject({ line, reason, source: shortened(source) });
    const { rejected, reasons } = this.notes;
    increment(reasons, withoutValues(reason));
    if (reason !== emptyRow && rejected.length < maxNoted) rejected.push({ line, reason });
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

/** Returns about how much memory a row takes: its texts, and what an object and each of its cells takes besides. */
function bytesOf({ source, cells }: Row): number {
  const length = typeof source === "string" ? source.length : source.reduce((sum, cell) => sum + cell.length, 0);
  return 200 + 2 * length + 32 * cells.length;
}

function namesNoPixel(): UserError {
  return new UserError(
    "No row of the file names a pixel. Nothing was imported.",
    "Add --pixel px_site --create-pixels, with the ID of your pixel in place of px_site.",
  );
}

/** At most this many rejected rows are noted with their line. */
const maxNoted = 5;

/** Removes from a reason what it quotes of the row. */
function withoutValues(reason: string): string {
  return reason.replace(/:? "(?:[^"\\]|\\.)*"/g, "").replace(/(the account has no pixel) .* \(/, "$1 of this ID (");
}

/** A rejected row is kept up to this many characters. */
const maxRejected = 64 * 1024;

function shortened(source: Row["source"]): Row["source"] {
  if (typeof source === "string") return source.length > maxRejected ? source.slice(0, maxRejected) : source;
  if (source.reduce((sum, { length }) => sum + length, 0) <= maxRejected) return source;
  let left = maxRejected;
  return source.map((cell) => {
    const kept = cell.slice(0, left);
    left -= kept.length;
    return kept;
  });
}

/** At most this many rows without a time are looked at. */
const maxDoubted = 1000;

/** Looks for columns that may be the time of the visit, in rows in which no column is. */
function openDoubts() {
  const seen = new Map<string, { values: number; times: number }>();
  let rows = 0;
  return {
    note({ layout, cells }: Row): void {
      if (layout.timeLike.length === 0 || rows === maxDoubted) return;
      rows++;
      for (const place of layout.timeLike) {
        const text = firstText(cells[place]);
        const name = layout.names[place] ?? "";
        if (text === null) continue;
        const column = seen.getOrInsertComputed(name, () => ({ values: 0, times: 0 }));
        column.values++;
        if (isTime(text, layout.looksLikeTime.has(place))) column.times++;
      }
    },
    found(): UserError | null {
      const doubted = [...seen].find(([, { values, times }]) => times * 2 > values);
      if (doubted === undefined) return null;
      const [name] = doubted;
      return new UserError(
        `The file has no column that is known as the time of the visit, but ${JSON.stringify(name)} looks like one.`,
        `Add ${mapOption(name, "identified_at")}, or --stamp arrival for the time of import.`,
      );
    },
  };
}
