/** How far a follower has come, and the text in which that survives a restart. */
import type { Lead } from "./contract.ts";
import { SettingError } from "./errors.ts";

/** Where a follower's progress is kept: a file, a row, a key in a store. */
export interface Checkpoint {
  /** The text that was saved last; null or undefined when there is none yet. */
  load(): Promise<string | null | undefined> | string | null | undefined;
  /** Replaces it, wholly or not at all. */
  save(text: string): unknown;
}

export interface Progress {
  /** From where the next poll asks, in Unix milliseconds: every lead given from here on is known by its id. */
  readonly fromMs: number;
  isNew(lead: Lead): boolean;
  /** Marks a lead as given. */
  take(lead: Lead): void;
  /** For `readProgress`. */
  write(): string;
}

/** The first moment of the year 1: the beginning when no other was given. */
const earliestMs = Date.parse("0001-01-01T00:00:00.000Z");

/** A beginning; leads before it are never given. */
export function beginProgress(since: string | Date | undefined, overlapMs: number): Progress {
  const fromMs = since === undefined ? earliestMs : new Date(since).getTime();
  if (Number.isNaN(fromMs)) throw new SettingError("since takes a Date or an ISO 8601 time, or leave it out.");
  return createProgress(fromMs, [], overlapMs);
}

/** What was written. Throws a SettingError for anything else: to begin anew would give every lead again. */
export function readProgress(text: string, overlapMs: number): Progress {
  try {
    const { version, from, seen } = JSON.parse(text) as { version: number; from: number; seen: [string, number][] };
    const isSeen = ([id, ms]: [string, number]) => typeof id === "string" && Number.isFinite(ms);
    if (version === 1 && Number.isFinite(from) && seen.every(isSeen)) return createProgress(from, seen, overlapMs);
  } catch {
    // Said below, as for any other text that is none of ours.
  }
  throw new SettingError("The checkpoint cannot be read. Restore the text that was saved, or remove it to begin anew.");
}

/** `from` only ever grows: below it, nobody knows any more what was given. */
function createProgress(beginMs: number, known: readonly [string, number][], overlapMs: number): Progress {
  const seen = new Map(known);
  let fromMs = beginMs;
  return {
    get fromMs() {
      return fromMs;
    },
    isNew: (lead) => !seen.has(lead.id) && Date.parse(lead.identified_at) >= fromMs,
    take(lead) {
      const ms = Date.parse(lead.identified_at);
      seen.set(lead.id, ms);
      fromMs = Math.max(fromMs, ms - overlapMs);
    },
    write() {
      for (const [id, ms] of seen) if (ms < fromMs) seen.delete(id);
      return JSON.stringify({ version: 1, from: fromMs, seen: [...seen] });
    },
  };
}
