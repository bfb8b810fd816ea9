/** A server, a bad line to it, and a client whose sleep moves the clock of both; what it reads, and its checkpoints. */
import { type Checkpoint, Leadfile, type LeadfileOptions } from "../../../packages/client/src/leadfile.ts";
import type { Lead } from "../../../src/contract/lead.ts";
import { serve } from "../../support/harness.ts";
import { aLine } from "./line.ts";

type Setup = NonNullable<Parameters<typeof serve>[0]>;

export async function connected(setup: Setup = {}, options: Partial<LeadfileOptions> = {}) {
  const server = await serve(setup);
  const line = await aLine(server);
  const key = server.aKey();
  const slept: number[] = [];
  const clock = {
    now: () => server.clock.nowMs,
    random: () => 1,
    async sleep(ms: number, signal: AbortSignal | undefined) {
      slept.push(ms);
      server.clock.nowMs += ms;
      // A turn of the loop, so that a follower that waits for nothing lets others run.
      await Bun.sleep(0);
      signal?.throwIfAborted();
    },
  };
  const usual = { baseUrl: line.url, key, clock };
  return {
    ...server,
    line,
    key,
    /** Every wait that the client made, in milliseconds. */
    slept,
    /** Another client of the same account, over the same line. */
    aClient: (over: Partial<LeadfileOptions> = {}) => new Leadfile({ ...usual, ...over }),
    leadfile: new Leadfile({ ...usual, ...options }),
  };
}

/** Takes some values from an endless source, and leaves it like a `break`. */
export async function take<Value>(source: AsyncIterable<Value>, count: number): Promise<Value[]> {
  const taken: Value[] = [];
  for await (const value of source) if (taken.push(value) >= count) break;
  return taken;
}

/** A checkpoint in memory, and every text that it was given. */
export function aCheckpoint(): Checkpoint & { readonly saved: string[] } {
  const saved: string[] = [];
  return { saved, load: () => saved.at(-1), save: (text) => saved.push(text) };
}

/** Follows until a number of leads were processed, and ends by the signal. */
export async function followFor(
  { leadfile }: { readonly leadfile: Leadfile },
  count: number,
  options: Parameters<typeof leadfile.leads.follow>[0],
): Promise<Lead[]> {
  const controller = new AbortController();
  const got: Lead[] = [];
  for await (const lead of leadfile.leads.follow({ ...options, signal: controller.signal })) {
    if (got.push(lead) === count) controller.abort();
  }
  return got;
}

/** The timestamp of a lead, shifted by some milliseconds. */
export const at = (lead: Lead | undefined, ms: number) =>
  new Date(Date.parse(lead?.identified_at ?? "") + ms).toISOString();
