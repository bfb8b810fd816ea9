/** Whose leads a checkpoint is about. The API does not name the account, so its leads and pixels must tell. */
import type { Pixel } from "./contract.ts";
import { SettingError } from "./errors.ts";
import { type CallOptions, fullPage, type LeadFilter, type List } from "./leads.ts";
import type { Progress, Taken } from "./progress.ts";
import type { Settings } from "./settings.ts";

/** A server, as a follower uses it. */
export interface Account {
  readonly list: List;
  readonly listPixels: (options: CallOptions) => Promise<Pixel[]>;
}

/** The address of the server, and a digest of the key: if both are the same, the account is. */
export async function sourceOf({ baseUrl, key }: Pick<Settings, "baseUrl" | "key">): Promise<string> {
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(await key()));
  const bytes = [...new Uint8Array(digest, 0, 8)];
  return `${baseUrl} ${bytes.map((byte) => byte.toString(16).padStart(2, "0")).join("")}`;
}

/**
 * Checks that a key or an address that differs from the one of the checkpoint belongs to the same account. Throws a
 * SettingError otherwise: of another account, leads older than the checkpoint would be missed.
 */
export async function recognize(account: Account, filter: LeadFilter & CallOptions, progress: Progress): Promise<void> {
  const { source, sourceBefore, fromMs, begunMs } = progress;
  const given = progress.sample().reverse();
  const [last] = given;
  if (last === undefined || sourceBefore === null || sourceBefore === source) return;
  if (await hasGivenLead(account, filter, given)) return;
  if (await isEmptied(account, filter, begunMs, last)) return;
  const address = addressOf(sourceBefore);
  const other = address === addressOf(source) ? "another key" : address;
  throw new SettingError(
    `The checkpoint was written with ${other}, and its last leads are not here: it seems to be another account's. ` +
      `A new checkpoint with since ${new Date(fromMs).toISOString()} begins at the same time.`,
  );
}

/** Returns whether any of some leads that were given is there. */
async function hasGivenLead({ list }: Account, { signal }: CallOptions, given: readonly Taken[]): Promise<boolean> {
  for (const [id, ms] of given) {
    const { data } = await list({ ...span(ms, ms + 1), limit: fullPage, signal });
    if (data.some((lead) => lead.id === id)) return true;
  }
  return false;
}

/**
 * Returns whether the account has the pixel of the last lead that was given, but no lead in all the time up to it: then
 * all of them were erased, and none can be missed.
 */
async function isEmptied(
  { list, listPixels }: Account,
  filter: LeadFilter & CallOptions,
  begunMs: number,
  [, lastMs, pixelId]: Taken,
): Promise<boolean> {
  const { data } = await list({ ...filter, ...span(begunMs, lastMs + 1), limit: 1 });
  return data.length === 0 && (await listPixels(filter)).some(({ id }) => id === pixelId);
}

const span = (sinceMs: number, beforeMs: number) => ({ since: new Date(sinceMs), before: new Date(beforeMs) });

const addressOf = (source: string): string => source.split(" ", 1)[0] ?? "";
