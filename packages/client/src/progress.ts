/** How far a follower has come, and the text in which that survives a restart. */
import type { Lead } from "./contract.ts";
import { SettingError } from "./errors.ts";

/** Where a follower's progress is kept: a file, a row, a key in a store. */
export interface Checkpoint {
  /** The text that was saved last; null or undefined when there is none yet. */
  load(): Promise<string | null | undefined> | string | null | undefined;
  /** Replaces it, wholly or not at all. */
  save(text: string): unknown;
  /** Adds to what was saved, so that `load` gives both. Without it each lead saves the whole text. */
  add?(text: string): unknown;
}

export interface Progress {
  /** Where the next poll begins, in Unix milliseconds. From here on every lead that was given is known by its id. */
  readonly fromMs: number;
  /** The time of the newest lead that was given, in Unix milliseconds; null where none was. */
  readonly newestMs: number | null;
  /** Whose leads they are, as `sourceOf` has it. */
  readonly source: string;
  /** Whose leads were given before, by the text that was read; null where it does not say so. */
  readonly sourceBefore: string | null;
  isNew(lead: Lead): boolean;
  /** Marks a lead as given. */
  take(lead: Lead): void;
  /** For `readProgress`. */
  write(): string;
  /** What a lead that was taken adds to that text. */
  writeTaken(lead: Lead): string;
  /** How many leads the text would hold. */
  readonly size: number;
}

/** The first moment of the year 1: the beginning when no other was given. */
const earliestMs = Date.parse("0001-01-01T00:00:00.000Z");

/** At least this many lines are added before the text is written anew. */
const fewestLines = 1_000;

/** A beginning; leads before it are never given. `source` says whose they are. */
export function beginProgress(since: string | Date | undefined, overlapMs: number, source: string): Progress {
  const fromMs = since === undefined ? earliestMs : new Date(since).getTime();
  if (Number.isNaN(fromMs)) throw new SettingError("since takes a Date or an ISO 8601 time, or leave it out.");
  return createProgress({ fromMs, known: [], sourceBefore: null }, overlapMs, source);
}

/** What was written. Throws a SettingError for anything else: to begin anew would give every lead again. */
export function readProgress(text: string, overlapMs: number, source: string): Progress {
  const [whole = "", ...added] = text.split("\n");
  const parsed = parse(whole) as Partial<Written> | null | undefined;
  const { version, from, source: sourceBefore = null, seen } = parsed ?? {};
  if (version === 1 && Number.isFinite(from) && from !== undefined && seen?.every(isTaken) === true) {
    // A line that a crash has cut off does not count.
    const known = [...seen, ...added.map(parse).filter(isTaken)];
    return createProgress({ fromMs: from, known, sourceBefore }, overlapMs, source);
  }
  throw new SettingError("The checkpoint cannot be read. Restore the text that was saved, or remove it to begin anew.");
}

interface Written {
  readonly version: number;
  readonly from: number;
  /** Earlier versions did not write it. */
  readonly source: string;
  readonly seen: readonly unknown[];
}

interface Beginning {
  readonly fromMs: number;
  readonly known: readonly Taken[];
  readonly sourceBefore: string | null;
}

type Taken = readonly [id: string, ms: number];

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

/** `from` never goes back: before it, the ids of leads that were given are forgotten. */
function createProgress(beginning: Beginning, overlapMs: number, source: string): Progress {
  const { known, sourceBefore } = beginning;
  const seen = new Map<string, number>();
  let fromMs = beginning.fromMs;
  let newestMs: number | null = null;
  const take = (id: string, ms: number) => {
    seen.set(id, ms);
    newestMs = Math.max(newestMs ?? ms, ms);
    fromMs = Math.max(fromMs, ms - overlapMs);
  };
  for (const [id, ms] of known) take(id, ms);
  const momentOf = (lead: Lead) => Date.parse(lead.identified_at);
  return {
    get fromMs() {
      return fromMs;
    },
    get newestMs() {
      return newestMs;
    },
    source,
    sourceBefore,
    get size() {
      return seen.size;
    },
    isNew: (lead) => !seen.has(lead.id) && momentOf(lead) >= fromMs,
    take: (lead) => take(lead.id, momentOf(lead)),
    write() {
      for (const [id, ms] of seen) if (ms < fromMs) seen.delete(id);
      return JSON.stringify({ version: 1, from: fromMs, source, seen: [...seen] } satisfies Written);
    },
    // The line end stands before it: what is added behind a cut-off line begins a new one.
    writeTaken: (lead) => `\n${JSON.stringify([lead.id, momentOf(lead)])}`,
  };
}

/**
 * Saves leads as they are taken, behind what was written before: each adds its own line where that can be, and now and
 * then all is written anew.
 */
export function createKeeper(checkpoint: Checkpoint | undefined, progress: Progress): (lead: Lead) => Promise<void> {
  const mostLines = () => Math.max(fewestLines, progress.size);
  let lines = mostLines();
  return async (lead) => {
    if (checkpoint?.add !== undefined && lines > 0) {
      lines -= 1;
      await checkpoint.add(progress.writeTaken(lead));
      return;
    }
    await checkpoint?.save(progress.write());
    lines = mostLines();
  };
}
