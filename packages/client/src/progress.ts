/** The progress of a follower, and the text in which it survives a restart. */
import type { Lead } from "./contract.ts";
import { SettingError } from "./errors.ts";

/** The place where a follower keeps its progress: a file, a row, a key in a store. */
export interface Checkpoint {
  /** Returns the text that was saved last; null or undefined if there is none yet. */
  load(): Promise<string | null | undefined> | string | null | undefined;
  /** Replaces it as a whole or not at all. */
  save(text: string): unknown;
  /** Appends to the saved text. Without this method, each lead saves the whole text. */
  add?(text: string): unknown;
}

export interface Progress {
  /** Where the next poll begins, in Unix milliseconds. From here on every lead that was given is known by its ID. */
  readonly fromMs: number;
  /** Where the first poll began. */
  readonly begunMs: number;
  /** The time of the newest lead that was given, in Unix milliseconds; null if none was. */
  readonly newestMs: number | null;
  /** The pixel of that lead; null if none was given, or an earlier version gave it. */
  readonly pixelId: string | null;
  /** Some of the leads that were given before `fromMs`, oldest first. */
  readonly older: readonly Taken[];
  /** Whose leads they are, as `sourceOf` returns it. */
  readonly source: string;
  /** Whose leads were given before, by the text that was read; null if it does not say so. */
  readonly sourceBefore: string | null;
  isNew(lead: Lead): boolean;
  /** Marks a lead as given. */
  take(lead: Lead): void;
  /** Returns the text for `readProgress`. */
  write(): string;
  /** Returns what a lead that was taken adds to that text. */
  writeTaken(lead: Lead): string;
  /** How many leads the text would hold. */
  readonly size: number;
}

/** A lead that was given. */
export type Taken = readonly [id: string, ms: number, pixelId?: string];

/** The first millisecond of the year 1: the beginning if no other was given. */
const earliestMs = Date.parse("0001-01-01T00:00:00.000Z");

/** At least this many lines are added before the whole text is written again. */
const minLines = 1_000;

/** How many leads before the overlap are kept, to recognize the account by. */
const maxOlder = 16;

/** Begins anew; leads before `since` are never given. `source` says whose leads they are. */
export function beginProgress(since: string | Date | undefined, overlapMs: number, source: string): Progress {
  const fromMs = since === undefined ? earliestMs : new Date(since).getTime();
  if (Number.isNaN(fromMs)) throw new SettingError("since takes a Date or an ISO 8601 time, or leave it out.");
  const beginning = { from: fromMs, begun: fromMs, pixel: null, older: [], seen: [] };
  return createProgress(beginning, null, overlapMs, source);
}

/** Reads what was written. Throws a SettingError for anything else: to begin anew would give every lead again. */
export function readProgress(text: string, overlapMs: number, source: string): Progress {
  const [whole = "", ...added] = text.split("\n");
  const parsed = parse(whole) as Partial<Written> | null | undefined;
  const {
    version,
    from,
    source: sourceBefore = null,
    seen,
    begun = earliestMs,
    pixel = null,
    older = [],
  } = parsed ?? {};
  if (version === 1 && Number.isFinite(from) && from !== undefined && seen?.every(isTaken) && older.every(isTaken)) {
    // A line that a crash cut off does not count.
    const known = [...seen, ...added.map(parse).filter(isTaken)];
    return createProgress({ from, begun, pixel, older, seen: known }, sourceBefore, overlapMs, source);
  }
  throw new SettingError("The checkpoint cannot be read. Restore the text that was saved, or remove it to begin anew.");
}

interface Written {
  readonly version: 1;
  readonly from: number;
  readonly source: string;
  readonly seen: readonly Taken[];
  /** Earlier versions did not write these, nor, at first, the source. */
  readonly begun: number;
  readonly pixel: string | null;
  readonly older: readonly Taken[];
}

function isTaken(value: unknown): value is Taken {
  return Array.isArray(value) && typeof value[0] === "string" && Number.isFinite(value[1]);
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** `from` never goes back: before it, the IDs of leads that were given are forgotten, except for a few. */
function createProgress(
  { from, begun, pixel, older: olderBefore, seen: known }: Omit<Written, "version" | "source">,
  sourceBefore: string | null,
  overlapMs: number,
  source: string,
): Progress {
  const seen = new Map<string, number>();
  let older = [...olderBefore];
  let fromMs = from;
  let newestMs: number | null = null;
  let pixelId = pixel;
  const take = ([id, ms, pixelOfLead]: Taken) => {
    seen.set(id, ms);
    if (ms >= (newestMs ?? ms)) [newestMs, pixelId] = [ms, pixelOfLead ?? pixelId];
    fromMs = Math.max(fromMs, ms - overlapMs);
  };
  for (const taken of known) take(taken);
  /** Forgets the leads before `fromMs`, except for a few: the older they are, the further apart. */
  function forget(): void {
    for (const [id, ms] of seen) {
      if (ms >= fromMs) continue;
      seen.delete(id);
      if (older.push([id, ms]) > maxOlder) older = older.filter((_, index) => index % 2 === 0);
    }
  }
  const takenOf = ({ id, identified_at, pixel_id }: Lead): Taken => [id, Date.parse(identified_at), pixel_id];
  return {
    get fromMs() {
      return fromMs;
    },
    get newestMs() {
      return newestMs;
    },
    get pixelId() {
      return pixelId;
    },
    get older() {
      forget();
      return older;
    },
    begunMs: begun,
    source,
    sourceBefore,
    get size() {
      return seen.size;
    },
    isNew: (lead) => !seen.has(lead.id) && Date.parse(lead.identified_at) >= fromMs,
    take: (lead) => take(takenOf(lead)),
    write() {
      forget();
      const written: Written = { version: 1, from: fromMs, source, begun, pixel: pixelId, older, seen: [...seen] };
      return JSON.stringify(written);
    },
    // The line break comes first: behind a line that was cut off, a new one begins.
    writeTaken: (lead) => `\n${JSON.stringify(takenOf(lead))}`,
  };
}

/**
 * Saves leads as they are taken. Each lead adds its own line if the checkpoint can add; now and then the whole text is
 * written again.
 */
export function createKeeper(checkpoint: Checkpoint | undefined, progress: Progress): (lead: Lead) => Promise<void> {
  const maxLines = () => Math.max(minLines, progress.size);
  let lines = maxLines();
  return async (lead) => {
    if (checkpoint?.add !== undefined && lines > 0) {
      lines -= 1;
      await checkpoint.add(progress.writeTaken(lead));
      return;
    }
    await checkpoint?.save(progress.write());
    lines = maxLines();
  };
}
