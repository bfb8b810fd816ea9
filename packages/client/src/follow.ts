/** Following new leads by polling (§4.1 rule 2, §6): each lead once, oldest first, over restarts and outages. */
import type { Clock } from "./clock.ts";
import type { Lead } from "./contract.ts";
import { type Duration, toMs } from "./duration.ts";
import { LeadfileError } from "./errors.ts";
import type { CallOptions, LeadFilter } from "./leads.ts";
import { oldestFirst } from "./oldest-first.ts";
import { beginProgress, type Checkpoint, createKeeper, type Progress, readProgress } from "./progress.ts";
import { type Account, recognize } from "./source.ts";

/** An account to follow. `source` says whose leads it has, as `sourceOf` returns it. */
export interface Followed extends Account {
  readonly clock: Clock;
  readonly source: () => Promise<string>;
}

interface PollOptions extends LeadFilter, CallOptions {
  /** Where to begin when there is no checkpoint yet. By default with the oldest lead. */
  readonly since?: string | Date | undefined;
  /** From the beginning of one poll to that of the next. A minute by default. */
  readonly every?: Duration | undefined;
  /** How far behind the newest lead to look for late ones. An hour by default. */
  readonly overlap?: Duration | undefined;
  /** Hears of errors that pass, such as an outage or the limit. The next poll tries again. */
  readonly onError?: ((error: LeadfileError) => void) | undefined;
}

export interface FollowOptions extends PollOptions {
  readonly checkpoint?: Checkpoint | undefined;
}

export interface BatchOptions extends PollOptions {
  /** The checkpoint of the last batch that was kept; none begins anew. */
  readonly checkpoint?: string | null | undefined;
}

export interface Batch {
  /** Oldest first. */
  readonly leads: readonly Lead[];
  /** To be kept together with the leads, best in one transaction. */
  readonly checkpoint: string;
}

/**
 * Gives each lead once. A lead counts as done, and the checkpoint is saved, when the next one is asked for: after a
 * crash, or a `break` or a throw in the loop, the one lead that was in hand comes again. An abort ends the loop
 * quietly after the lead in hand.
 */
export async function* followLeads(
  followed: Followed,
  { checkpoint, ...options }: FollowOptions,
): AsyncGenerator<Lead, void, undefined> {
  const saved = (await checkpoint?.load()) ?? null;
  const progress = progressOf(saved, await followed.source(), options);
  // Kept before the first lead comes: a restart must not begin at a later `since`.
  let isKept = saved === null;
  if (isKept) await checkpoint?.save(progress.write());
  const keep = createKeeper(checkpoint, progress);
  for await (const leads of poll(followed, progress, options)) {
    // Where nothing can be saved, each restart would give the same lead again.
    if (!isKept) await checkpoint?.save(progress.write());
    isKept = true;
    for (const lead of leads) {
      yield lead;
      progress.take(lead);
      await keep(lead);
      if (isAborted(options.signal)) return;
    }
  }
}

/**
 * Gives new leads together with the checkpoint after them; whoever keeps both in one transaction has every lead
 * exactly once, crash or not. Without a checkpoint to begin with, the first batch may be empty: it keeps the beginning.
 */
export async function* followBatches(
  followed: Followed,
  { checkpoint = null, ...options }: BatchOptions,
): AsyncGenerator<Batch, void, undefined> {
  const progress = progressOf(checkpoint, await followed.source(), options);
  if (checkpoint === null) yield { leads: [], checkpoint: progress.write() };
  for await (const leads of poll(followed, progress, options)) {
    for (const lead of leads) progress.take(lead);
    yield { leads, checkpoint: progress.write() };
    if (isAborted(options.signal)) return;
  }
}

function progressOf(saved: string | null, source: string, { since, overlap = "1h" }: PollOptions): Progress {
  const overlapMs = toMs("overlap", overlap);
  return saved === null ? beginProgress(since, overlapMs, source) : readProgress(saved, overlapMs, source);
}

/** New leads in parts, never an empty one. The caller marks them in the progress before it asks for the next part. */
async function* poll(
  followed: Followed,
  progress: Progress,
  { since: _, every = "1m", overlap: __, signal, onError, ...filter }: PollOptions,
): AsyncGenerator<readonly Lead[], void, undefined> {
  const { list, clock } = followed;
  const everyMs = toMs("every", every);
  let isRecognized = false;
  while (!isAborted(signal)) {
    const begunMs = clock.now();
    let pauseMs = everyMs;
    try {
      if (!isRecognized) await recognize(followed, filter, progress, signal);
      isRecognized = true;
      for await (const leads of oldestFirst(list, filter, progress.fromMs, signal)) {
        const fresh = leads.filter(progress.isNew);
        if (fresh.length > 0) yield fresh;
      }
    } catch (error) {
      if (isAborted(signal)) return;
      pauseMs = Math.max(everyMs, retryAfterOf(error, onError));
    }
    await rest(Math.max(0, begunMs + pauseMs - clock.now()), clock, signal);
  }
}

/** How long the server asks to wait after an error that passes. Throws any other error. */
function retryAfterOf(error: unknown, onError: PollOptions["onError"]): number {
  if (!(error instanceof LeadfileError && error.transient)) throw error;
  onError?.(error);
  return error.retryAfterMs ?? 0;
}

/** An abort while nothing happens is no failure. */
async function rest(ms: number, clock: Clock, signal: AbortSignal | undefined): Promise<void> {
  try {
    await clock.sleep(ms, signal);
  } catch (reason) {
    if (!isAborted(signal)) throw reason;
  }
}

/** A function, because the compiler takes a property that was read once as unchanged. */
function isAborted(signal: AbortSignal | undefined): boolean {
  return signal?.aborted === true;
}
