/** Follows new leads by polling (§4.1 rule 2, §6): each lead once, oldest first, across restarts and outages. */

import type { Lead } from "./contract.ts";
import type { LeadfileError } from "./errors.ts";
import { transientOf } from "./exchange.ts";
import type { CallOptions, LeadFilter, List } from "./leads.ts";
import { oldestFirst } from "./oldest-first.ts";
import { beginProgress, type Checkpoint, type Progress, readProgress } from "./progress.ts";
import { type Account, recognize } from "./source.ts";
import { type Clock, type Duration, toMs } from "./time.ts";

/** An account to follow. `source` says whose leads it has, as `sourceOf` returns it. */
export interface Followed extends Account {
  readonly clock: Clock;
  readonly source: () => Promise<string>;
}

interface PollOptions extends LeadFilter, CallOptions {
  /** The beginning if there is no checkpoint yet. The oldest lead by default. */
  readonly since?: string | Date | undefined;
  /** The time from the start of one poll to the start of the next. One minute by default. */
  readonly every?: Duration | undefined;
  /** The time before the newest lead in which late ones are found. One hour by default. */
  readonly overlap?: Duration | undefined;
  /** Is called for errors that pass, such as an outage or the limit, with the time until the next poll tries again. */
  readonly onError?: ((error: LeadfileError, waitMs: number) => void) | undefined;
}

export interface FollowOptions extends PollOptions {
  readonly checkpoint?: Checkpoint | undefined;
}

export interface BatchOptions extends PollOptions {
  /** The checkpoint of the last batch that was stored; without one, the first poll begins anew. */
  readonly checkpoint?: string | null | undefined;
}

export interface Batch {
  /** Oldest first. */
  readonly leads: readonly Lead[];
  /** To be stored together with the leads, preferably in one transaction. */
  readonly checkpoint: string;
}

/**
 * Yields each lead once. A lead is done, and the checkpoint saved, when the loop asks for the next one: after a crash, a
 * `break`, or an exception in the loop, the current lead comes again. An abort ends the loop after the current lead.
 */
export async function* followLeads(
  followed: Followed,
  { checkpoint, ...options }: FollowOptions,
): AsyncGenerator<Lead, void, undefined> {
  const saved = (await checkpoint?.load()) ?? null;
  const progress = progressOf(saved, await followed.source(), options);
  // Saved before the first lead: a restart must not begin at a later `since`.
  let isSaved = saved === null;
  if (isSaved) await checkpoint?.save(progress.write());
  const keep = progress.keeper(checkpoint);
  for await (const leads of poll(followed, progress, options)) {
    // Fails before the first lead: if nothing can be saved, each restart would yield the same lead again.
    if (!isSaved) await checkpoint?.save(progress.write());
    isSaved = true;
    for (const lead of leads) {
      yield lead;
      progress.take(lead);
      await keep(lead);
      if (isAborted(options.signal)) return;
    }
  }
}

/**
 * Yields new leads together with the checkpoint after them. If both are stored in one transaction, every lead is stored
 * exactly once. Without a checkpoint, the first batch can be empty: it stores the beginning.
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

/** Yields new leads in parts that are never empty. The caller takes them in the progress before it asks for the next part. */
async function* poll(
  followed: Followed,
  progress: Progress,
  { since: _, every = "1m", overlap: __, onError, ...filter }: PollOptions,
): AsyncGenerator<readonly Lead[], void, undefined> {
  const { list, clock } = followed;
  const { signal } = filter;
  const everyMs = toMs("every", every);
  let isRecognized = false;
  while (!isAborted(signal)) {
    const begunMs = clock.now();
    let error: LeadfileError | null = null;
    try {
      if (!isRecognized) await recognize(followed, filter, progress);
      isRecognized = true;
      yield* newLeads(list, filter, progress);
    } catch (cause) {
      if (isAborted(signal)) return;
      error = transientOf(cause);
    }
    const restMs = Math.max(0, begunMs + Math.max(everyMs, error?.retryAfterMs ?? 0) - clock.now());
    if (error !== null) onError?.(error, restMs);
    await clock.sleep(restMs, signal).catch((reason) => isAborted(signal) || Promise.reject(reason));
  }
}

/** Yields the leads of one poll that were not given yet. */
async function* newLeads(list: List, filter: LeadFilter & CallOptions, progress: Progress) {
  for await (const leads of oldestFirst(list, filter, progress.fromMs)) {
    const fresh = leads.filter((lead) => progress.isNew(lead));
    if (fresh.length > 0) yield fresh;
  }
}

/** A function, because the compiler assumes that a property does not change after it was read. */
function isAborted(signal: AbortSignal | undefined): boolean {
  return signal?.aborted === true;
}
