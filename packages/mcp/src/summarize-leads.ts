/** The tool summarize_leads: how many leads by day, pixel, page, state and source, over a span of time. */
import { type Lead, type Leadfile, LeadfileError, type LeadQuery } from "../../client/src/leadfile.ts";
import { cut, type Show } from "./mask.ts";

export const defaultDays = 30;
export const maxDays = 92;
const dayMs = 86_400_000;
const maxLabelLength = 100;
/** The largest counts are listed; the others are added up. */
const maxLabels = 25;
/** All states, territories, and military codes are listed: sums of others could not be added up across two summaries. */
const maxStates = 64;

type Counts = Map<string, number>;

/** Returns the span of a query; by default the last 30 days. Throws if it is too long. The server refuses a text that is no time. */
function spanOf(query: LeadQuery, nowMs: number): { readonly since: string; readonly before: string } {
  const before = String(query.before ?? new Date(nowMs + 1).toISOString());
  const beforeMs = Date.parse(before);
  const since = String(
    query.since ?? (Number.isNaN(beforeMs) ? before : new Date(beforeMs - defaultDays * dayMs).toISOString()),
  );
  if (beforeMs - Date.parse(since) > maxDays * dayMs) {
    throw new LeadfileError(
      `A summary covers ${maxDays} days at most. Ask for a part of the time: set since and before.`,
    );
  }
  return { since, before };
}

/** Counts leads. If one call cannot read all of them, it returns the counts so far and how to continue. */
export async function summarizeLeads(
  client: Leadfile,
  show: Show,
  asked: LeadQuery,
  nowMs: number,
  signal: AbortSignal,
) {
  const query = { ...asked, ...spanOf(asked, nowMs) };
  const counts = { day: new Map(), pixel: new Map(), page: new Map(), state: new Map(), source: new Map() };
  let leads = 0;
  let oldest = query.before;
  let isWhole = false;
  try {
    for await (const lead of client.leads.all({ ...query, signal })) {
      count(counts, lead, show);
      leads += 1;
      oldest = lead.identified_at;
    }
    isWhole = true;
  } catch (cause) {
    // After an error that lasts, such as a revoked key or a fault of this program, asking again would not help.
    const isOver = signal.aborted || (cause instanceof LeadfileError && cause.transient);
    if (leads === 0 || !isOver) throw cause;
  }
  return {
    since: query.since,
    before: query.before,
    leads,
    /** Advice on counting the rest; null if all leads were counted. */
    missing: isWhole
      ? null
      : `Counted back to ${oldest}; this call could not read more. ` +
        `Ask again with since ${query.since} and before ${oldest}, keep the rest, and add up the counts.`,
    by_day: Object.fromEntries([...counts.day].toSorted()),
    by_pixel: largest(counts.pixel, maxLabels),
    /** By origin and path. */
    by_page: largest(counts.page, maxLabels),
    by_state: largest(counts.state, maxStates),
    by_source: largest(counts.source, maxLabels),
  };
}

function count(counts: Record<"day" | "pixel" | "page" | "state" | "source", Counts>, lead: Lead, show: Show): void {
  add(counts.day, lead.identified_at.slice(0, 10));
  add(counts.pixel, lead.pixel_id);
  add(counts.page, show("page_url", lead) ?? "(none)");
  add(counts.state, show("state", lead) ?? "(none)");
  add(counts.source, show("traffic_source", lead) ?? "(none)");
}

function add(counts: Counts, label: string): void {
  const shown = cut(label, maxLabelLength);
  counts.set(shown, (counts.get(shown) ?? 0) + 1);
}

/** The largest counts first, up to a number of them, and the sum of all others. */
function largest(counts: Counts, most: number): Record<string, number> {
  const sorted = [...counts].toSorted(([, one], [, other]) => other - one);
  const others = sorted.slice(most).reduce((sum, [, leads]) => sum + leads, 0);
  const kept = sorted.slice(0, most);
  return Object.fromEntries(others === 0 ? kept : [...kept, ["(others)", others]]);
}
