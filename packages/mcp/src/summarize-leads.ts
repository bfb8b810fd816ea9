/** The tool summarize_leads: how many leads by day, pixel, page, state and source, over a span of time. */
import { type Lead, type Leadfile, LeadfileError, type LeadQuery } from "../../client/src/leadfile.ts";
import { cut, type Show } from "./mask.ts";

export const usualDays = 30;
export const mostDays = 92;
const dayMs = 86_400_000;
const fullPage = 100;
const longestLabel = 100;
/** More lines than these are summed up in one. */
const mostLabels = 25;
/** Those of the US, its territories and its forces all have a line: what a summary sums up, nobody can add to another. */
const mostStates = 64;

type Counts = Map<string, number>;

interface Summary {
  readonly since: string;
  readonly before: string;
  readonly leads: number;
  /** How to count the rest; null when all leads were counted. */
  readonly missing: string | null;
  readonly by_day: Readonly<Record<string, number>>;
  readonly by_pixel: Readonly<Record<string, number>>;
  /** By origin and path. */
  readonly by_page: Readonly<Record<string, number>>;
  readonly by_state: Readonly<Record<string, number>>;
  readonly by_source: Readonly<Record<string, number>>;
}

/** A span that is too long. The message says what is accepted. */
export class SpanError extends Error {
  override readonly name = "SpanError";
}

/** The span of the query; by default the last 30 days. The server refuses a text that is no time. */
export function spanOf(query: LeadQuery, nowMs: number): { readonly since: string; readonly before: string } {
  const before = String(query.before ?? new Date(nowMs + 1).toISOString());
  const beforeMs = Date.parse(before);
  const since = String(
    query.since ?? (Number.isNaN(beforeMs) ? before : new Date(beforeMs - usualDays * dayMs).toISOString()),
  );
  if (beforeMs - Date.parse(since) > mostDays * dayMs) {
    throw new SpanError(`A summary covers ${mostDays} days at most. Ask for a part of the time: set since and before.`);
  }
  return { since, before };
}

/** Counts page by page. Where no more can be read in one call, it gives the counts so far, and where to go on. */
export async function summarizeLeads(
  client: Leadfile,
  show: Show,
  query: LeadQuery & { readonly since: string; readonly before: string },
  signal: AbortSignal,
): Promise<Summary> {
  const counts = { day: new Map(), pixel: new Map(), page: new Map(), state: new Map(), source: new Map() };
  let leads = 0;
  let cursor: string | null = query.before;
  while (cursor !== null) {
    const page = await nextPage(client, { ...query, before: cursor, limit: fullPage }, leads, signal);
    if (page === null) break;
    for (const lead of page.data) count(counts, lead, show);
    leads += page.data.length;
    cursor = page.next_cursor;
  }
  return {
    since: query.since,
    before: query.before,
    leads,
    missing:
      cursor === null
        ? null
        : `Counted back to ${cursor}; no more could be read in this call. ` +
          `Ask again with since ${query.since} and before ${cursor}, all else as it is, and add up the counts.`,
    by_day: Object.fromEntries([...counts.day].toSorted()),
    by_pixel: largest(counts.pixel, mostLabels),
    by_page: largest(counts.page, mostLabels),
    by_state: largest(counts.state, mostStates),
    by_source: largest(counts.source, mostLabels),
  };
}

/** Null where no page can be had in this call, but some were counted. */
async function nextPage(client: Leadfile, query: LeadQuery, leads: number, signal: AbortSignal) {
  try {
    return await client.leads.list({ ...query, signal });
  } catch (cause) {
    // With a key that was revoked meanwhile, or the like, to ask again would not help.
    if (leads === 0 || (cause instanceof LeadfileError && !cause.transient)) throw cause;
    return null;
  }
}

function count(counts: Record<"day" | "pixel" | "page" | "state" | "source", Counts>, lead: Lead, show: Show): void {
  add(counts.day, lead.identified_at.slice(0, 10));
  add(counts.pixel, lead.pixel_id);
  add(counts.page, show("page_url", lead) ?? "(none)");
  add(counts.state, show("state", lead) ?? "(none)");
  add(counts.source, show("traffic_source", lead) ?? "(none)");
}

function add(counts: Counts, label: string): void {
  const shown = cut(label, longestLabel);
  counts.set(shown, (counts.get(shown) ?? 0) + 1);
}

/** The largest first, up to a number, and the sum of all others. */
function largest(counts: Counts, most: number): Record<string, number> {
  const sorted = [...counts].toSorted(([, one], [, other]) => other - one);
  const others = sorted.slice(most).reduce((sum, [, leads]) => sum + leads, 0);
  const kept = sorted.slice(0, most);
  return Object.fromEntries(others === 0 ? kept : [...kept, ["(others)", others]]);
}
