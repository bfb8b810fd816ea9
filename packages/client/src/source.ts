/** Whose leads a checkpoint is about. The API does not name the account, so that its own leads must tell. */
import { SettingError } from "./errors.ts";
import { fullPage, type LeadFilter, type List } from "./leads.ts";
import type { Progress } from "./progress.ts";

/** The address of the server, and a digest of the key: where both are the same, the account is. */
export async function sourceOf({ baseUrl, key }: { readonly baseUrl: string; readonly key: string }): Promise<string> {
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(key));
  const bytes = [...new Uint8Array(digest, 0, 8)];
  return `${baseUrl} ${bytes.map((byte) => byte.toString(16).padStart(2, "0")).join("")}`;
}

/**
 * Looks for the leads that were given last where another key or address was used then. Throws a SettingError where there
 * is none of them: behind the last lead of another account, leads of this one would be passed.
 */
export async function recognize(
  list: List,
  filter: LeadFilter,
  { fromMs, newestMs, source, sourceBefore, isNew }: Progress,
  signal: AbortSignal | undefined,
): Promise<void> {
  if (newestMs === null || sourceBefore === null || sourceBefore === source) return;
  const span = { since: new Date(fromMs), before: new Date(newestMs + 1) };
  const { data } = await list({ ...filter, ...span, limit: fullPage }, signal);
  if (data.some((lead) => !isNew(lead))) return;
  const address = addressOf(sourceBefore);
  const other = address === addressOf(source) ? "another key" : address;
  throw new SettingError(
    `The checkpoint was written with ${other}, and its last leads are not here: it seems to be another account's. ` +
      `A new checkpoint with since ${new Date(fromMs).toISOString()} begins at the same time.`,
  );
}

const addressOf = (source: string): string => source.split(" ", 1)[0] ?? "";
