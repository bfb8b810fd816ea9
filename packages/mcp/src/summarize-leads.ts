/** The tool summarize_leads: how many leads by day, pixel, page, state, and source, or by one of them or another field. */
import { type Lead, type Leadfile, LeadfileError, type LeadQuery } from "../../client/src/leadfile.ts";
import { toTime } from "../../client/src/time.ts";
import { cut, type Show } from "./mask.ts";

export const defaultDays = 30;
export const maxDays = 92;
const dayMs = 86_400_000;
const maxLabelLength = 100;
/** The largest counts are listed; the others are added up. */
const maxLabels = 25;
/** All states, territories, and military codes are listed: sums of others could not be added up across two summaries. */
const maxStates = 64;

/** The most labels of a breakdown that was asked for. */
const maxAskedLabels = 60;

type Counts = Map<string, number>;

/** The breakdowns: the label of a lead, and the most labels that are listed. */
const breakdowns = {
  day: { labelOf: (lead: Lead) => lead.identified_at.slice(0, 10), most: maxDays + 1 },
  pixel: { labelOf: (lead: Lead, show: Show) => show("pixel_id", lead), most: maxLabels },
  /** By origin and path. */
  page: { labelOf: (lead: Lead, show: Show) => show("page_url", lead), most: maxLabels },
  state: { labelOf: (lead: Lead, show: Show) => show("state", lead), most: maxStates },
  source: { labelOf: (lead: Lead, show: Show) => show("traffic_source", lead), most: maxLabels },
  company: { labelOf: (lead: Lead, show: Show) => show("company", lead), most: maxLabels },
  city: { labelOf: (lead: Lead, show: Show) => show("city", lead), most: maxLabels },
} as const;
export type Breakdown = keyof typeof breakdowns;

/** The breakdowns that a tool can ask for. */
export const askable = ["company", "city", "state", "pixel", "day"] as const satisfies readonly Breakdown[];
const usual = ["day", "pixel", "page", "state", "source"] as const satisfies readonly Breakdown[];

/** Returns the span of a query; by default the last 30 days. Throws if it is too long. The server refuses a text that is no time. */
function spanOf(query: LeadQuery, nowMs: number): { readonly since: string; readonly before: string } {
  const before = toTime("before", query.before ?? new Date(nowMs + 1));
  const beforeMs = Date.parse(before);
  const start = Number.isNaN(beforeMs) ? before : new Date(beforeMs - defaultDays * dayMs);
  const since = toTime("since", query.since ?? start);
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
  { by, ...asked }: LeadQuery & { readonly by?: Breakdown | undefined },
  nowMs: number,
  signal: AbortSignal,
) {
  const query = { ...asked, ...spanOf(asked, nowMs) };
  const names: readonly Breakdown[] = by === undefined ? usual : [by];
  const counts = new Map<Breakdown, Counts>(names.map((name) => [name, new Map()]));
  let leads = 0;
  let oldest = query.before;
  let isWhole = false;
  try {
    for await (const lead of client.leads.all({ ...query, signal })) {
      for (const [name, labels] of counts) add(labels, breakdowns[name].labelOf(lead, show) ?? "(none)");
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
    ...Object.fromEntries([...counts].map(([name, labels]) => [`by_${name}`, listed(name, labels, by !== undefined)])),
  };
}

/** Days in their order, everything else with the largest counts first. */
function listed(name: Breakdown, labels: Counts, isAsked: boolean): Record<string, number> {
  if (name === "day") return Object.fromEntries([...labels].toSorted());
  return largest(labels, isAsked ? Math.max(maxAskedLabels, breakdowns[name].most) : breakdowns[name].most);
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
