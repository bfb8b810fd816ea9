/** A followed server, and a checkpoint. */

import type { Checkpoint } from "../../../packages/client/src/leadfile.ts";
import type { Lead } from "../../../src/contract/lead.ts";
import type { connected } from "./connected.ts";

/** A checkpoint in memory, and every text that it was given. */
export function aCheckpoint(): Checkpoint & { readonly saved: string[] } {
  const saved: string[] = [];
  return { saved, load: () => saved.at(-1), save: (text) => saved.push(text) };
}

/** Follows until a number of leads were processed, and ends by the signal. */
export async function followFor(
  { leadfile }: Pick<Awaited<ReturnType<typeof connected>>, "leadfile">,
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
