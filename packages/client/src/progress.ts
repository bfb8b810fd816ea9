/** The progress of a follower, and the text in which it survives a restart. */
import type { Lead } from "./contract.ts";
import { SettingError } from "./errors.ts";
import { parse } from "./exchange.ts";
import { toTime } from "./time.ts";

/** The place where a follower keeps its progress: a file, a row, a key in a store. */
export interface Checkpoint {
  /** Returns the text that was saved last; null or undefined if there is none yet. */
  load(): Promise<string | null | undefined> | string | null | undefined;
  /** Replaces it as a whole or not at all. */
  save(text: string): unknown;
  /** Appends to the saved text. Without this method, each lead saves the whole text. */
  add?(text: string): unknown;
}

/** A lead that was given. */
export type Taken = readonly [id: string, ms: number, pixelId?: string | null];

/** The first millisecond of the year 1: the beginning if no other was given. */
const earliestMs = Date.parse("0001-01-01T00:00:00.000Z");

/** At least this many lines are added before the whole text is written again. */
const minLines = 1_000;

/** The number of leads by which an account is recognized. As many are kept of those before the overlap. */
const maxSample = 16;

/** Begins anew; leads before `since` are never given. `source` says whose leads they are. */
export function beginProgress(since: string | Date | undefined, overlapMs: number, source: string): Progress {
  const fromMs = since === undefined ? earliestMs : timeOf(since);
  return new Progress({ from: fromMs, begun: fromMs, seen: [] }, overlapMs, source, null);
}

/** A text without an offset would be another time on another machine. */
function timeOf(since: string | Date): number {
  const text = toTime("since", since);
  const hasOffset = /^[+-]?\d{4,6}-\d{2}-\d{2}[Tt]\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(?:[Zz]|[+-]\d{2}:?\d{2})$/;
  const ms = hasOffset.test(text) ? Date.parse(text.replace(/([+-]\d{2})(\d{2})$/, "$1:$2")) : Number.NaN;
  if (!Number.isNaN(ms)) return ms;
  throw new SettingError("since takes a Date, a day, or a time with its offset, such as 2026-01-31T09:15:00Z.");
}

/** Parses a saved checkpoint. Throws a SettingError if it is not one, because starting over would give every lead again. */
export function readProgress(text: string, overlapMs: number, source: string): Progress {
  const [whole = "", ...added] = text.split("\n");
  const parsed = parse(whole) as Partial<Written> | null | undefined; // Checked below.
  const { version, from, source: before = null, begun = earliestMs, seen } = parsed ?? {};
  if (version === 1 && Number.isFinite(from) && from !== undefined && seen?.every(isTaken)) {
    // A line that a crash cut off does not count.
    const known = [...seen, ...added.map(parse).filter(isTaken)];
    return new Progress({ from, begun, seen: known }, overlapMs, source, before);
  }
  throw new SettingError("The checkpoint cannot be read. Restore the text that was saved, or remove it to begin anew.");
}

interface Written {
  readonly version: 1;
  readonly from: number;
  readonly source: string;
  readonly seen: readonly Taken[];
  /** Earlier versions did not write this, nor, at first, the source. */
  readonly begun: number;
}

function isTaken(value: unknown): value is Taken {
  return Array.isArray(value) && typeof value[0] === "string" && Number.isFinite(value[1]);
}

const takenOf = ({ id, identified_at, pixel_id }: Lead): Taken => [id, Date.parse(identified_at), pixel_id];

/** Returns some of the leads in their order: the nearer to the beginning, the further apart. */
function thinned(leads: Iterable<Taken>): Taken[] {
  let kept: Taken[] = [];
  for (const lead of leads) {
    kept.push(lead);
    if (kept.length > maxSample) kept = kept.filter((_, index) => index % 2 === 0);
  }
  return kept;
}

/** The leads that were given. Those before `fromMs`, which never goes back, are forgotten, except for a few. */
export class Progress {
  /** The beginning of the next poll, in Unix milliseconds. Every lead that was given from here on is known by its ID. */
  fromMs: number;
  /** The beginning of the first poll. */
  readonly begunMs: number;
  private seen = new Map<string, Taken>();

  constructor(
    { from, begun, seen }: Pick<Written, "from" | "begun" | "seen">,
    private readonly overlapMs: number,
    /** The source of the leads, as returned by sourceOf. */
    readonly source: string,
    /** The source of the leads before them; null if the checkpoint has none. */
    readonly sourceBefore: string | null,
  ) {
    this.fromMs = from;
    this.begunMs = begun;
    for (const taken of seen) this.add(taken);
  }

  /** Returns a few of the leads that were given, the last one last, from all the time that was followed. */
  sample(): Taken[] {
    return thinned(this.seen.values());
  }

  isNew(lead: Lead): boolean {
    return !this.seen.has(lead.id) && Date.parse(lead.identified_at) >= this.fromMs;
  }

  take(lead: Lead): void {
    this.add(takenOf(lead));
  }

  private add(taken: Taken): void {
    const [id, ms] = taken;
    this.seen.set(id, taken);
    this.fromMs = Math.max(this.fromMs, ms - this.overlapMs);
  }

  /** Returns the text for `readProgress`. */
  write(): string {
    const { fromMs: from, source, begunMs: begun } = this;
    const all = [...this.seen.values()];
    const seen = [...thinned(all.filter(([, ms]) => ms < from)), ...all.filter(([, ms]) => ms >= from)];
    this.seen = new Map(seen.map((taken) => [taken[0], taken]));
    return JSON.stringify({ version: 1, from, source, begun, seen } satisfies Written);
  }

  /**
   * Returns a function that saves an accepted lead. If the checkpoint has `add`, each lead appends one line, and the
   * whole text is rewritten from time to time.
   */
  keeper(checkpoint: Checkpoint | undefined): (lead: Lead) => Promise<void> {
    const maxLines = () => Math.max(minLines, this.seen.size);
    let lines = maxLines();
    return async (lead) => {
      if (checkpoint?.add !== undefined && lines > 0) {
        lines -= 1;
        // The line break comes first: after a line that was cut off, a new one begins.
        await checkpoint.add(`\n${JSON.stringify(takenOf(lead))}`);
        return;
      }
      await checkpoint?.save(this.write());
      lines = maxLines();
    };
  }
}
