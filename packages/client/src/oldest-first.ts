/** Reads leads oldest first, although pages list the newest first: a long time is read in spans that fit into memory. */
import type { Lead, LeadList } from "./contract.ts";
import { type CallOptions, fullPage, type LeadFilter, type List } from "./leads.ts";

/** About how many leads are in memory at once. */
const maxLeads = 500;

type Read = (sinceMs: number, before: string | Date | undefined, limit: number) => Promise<LeadList>;

/**
 * Yields every lead from a time on, in parts, oldest first, up to the lead that was the newest at the start. Newer leads
 * are left to the next call: otherwise, a lead that is late by less than the overlap could arrive in a part that was read
 * already, and be missed.
 */
export async function* oldestFirst(
  list: List,
  filter: LeadFilter & CallOptions,
  fromMs: number,
): AsyncGenerator<readonly Lead[], void, undefined> {
  const read: Read = (sinceMs, before, limit) => list({ ...filter, since: new Date(sinceMs), before, limit });
  const { leads, topMs, cursorMs } = await readNewest(read, fromMs);
  if (cursorMs === null) return yield leads.reverse();
  let startMs = await findBeginning(read, fromMs, topMs, topMs - cursorMs);
  for (let widthMs = topMs - startMs; startMs < topMs; ) {
    const endMs = Math.min(startMs + widthMs, topMs);
    const { leads, untilMs } = await readSpan(read, startMs, endMs);
    yield leads;
    widthMs = Math.ceil((untilMs - startMs) * growth(leads.length, untilMs < endMs));
    startMs = untilMs;
  }
}

/** Returns the factor for the next span. After an empty half, the other half has too many leads, so it is halved too. */
function growth(count: number, halved: boolean): number {
  if (count === 0) return halved ? 0.5 : 8;
  return halved || count > maxLeads / 2 ? 1 : 2;
}

/** Returns the newest leads, newest first; the cursor is null if these are all. */
async function readNewest(read: Read, fromMs: number) {
  const leads: Lead[] = [];
  for (let before: string | undefined; ; ) {
    const page = await read(fromMs, before, fullPage);
    leads.push(...page.data);
    const topMs = leads[0] === undefined ? fromMs : Date.parse(leads[0].identified_at) + 1;
    if (!page.has_more || page.next_cursor === null) return { leads, topMs, cursorMs: null };
    if (leads.length >= maxLeads) return { leads, topMs, cursorMs: Date.parse(page.next_cursor) };
    before = page.next_cursor;
  }
}

/** Returns a time before which there is no lead. Searches back from the newest one in growing steps. */
async function findBeginning(read: Read, fromMs: number, topMs: number, spanMs: number): Promise<number> {
  for (let backMs = 8 * spanMs; topMs - backMs > fromMs; backMs *= 8) {
    const page = await read(fromMs, new Date(topMs - backMs), 1);
    if (page.data.length === 0) return topMs - backMs;
  }
  return fromMs;
}

/** Returns the leads from `startMs` to `endMs`, oldest first, or to an earlier time if they are too many. */
async function readSpan(
  read: Read,
  startMs: number,
  endMs: number,
): Promise<{ readonly leads: readonly Lead[]; readonly untilMs: number }> {
  let untilMs = endMs;
  let leads: Lead[] = [];
  for (let before: string | Date = new Date(endMs); ; ) {
    const page = await read(startMs, before, fullPage);
    leads.push(...page.data);
    if (!page.has_more || page.next_cursor === null) return { leads: leads.reverse(), untilMs };
    before = page.next_cursor;
    if (leads.length < maxLeads) continue;
    const newestMs = Date.parse(leads[0]?.identified_at ?? before);
    untilMs = startMs + Math.max(1, Math.floor((newestMs - startMs) / 2));
    before = new Date(untilMs);
    leads = [];
  }
}
