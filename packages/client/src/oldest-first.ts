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
  const newest = await readPages(read, fromMs, undefined);
  if (newest.cursorMs === null) return yield newest.leads.reverse();
  const topMs = newest.newestMs + 1;
  let startMs = await findBeginning(read, fromMs, topMs, topMs - newest.cursorMs);
  let isHalved = false;
  for (let widthMs = topMs - startMs; startMs < topMs; ) {
    const endMs = Math.min(startMs + widthMs, topMs);
    const { leads, newestMs, cursorMs } = await readPages(read, startMs, new Date(endMs));
    if (cursorMs === null) {
      yield leads.reverse();
      widthMs = Math.ceil((endMs - startMs) * growth(leads.length, isHalved));
      startMs = endMs;
    } else {
      widthMs = Math.max(1, Math.floor((newestMs - startMs) / 2));
    }
    isHalved = cursorMs !== null;
  }
}

/** Returns the factor for the next span. After an empty half, the other half has too many leads, so it is halved too. */
function growth(count: number, isHalved: boolean): number {
  if (count === 0) return isHalved ? 0.5 : 8;
  return isHalved || count > maxLeads / 2 ? 1 : 2;
}

/** Returns the leads of a span, newest first, or the newest of them if they are too many; the cursor is null if these are all. */
async function readPages(read: Read, sinceMs: number, end: Date | undefined) {
  const leads: Lead[] = [];
  for (let before: string | Date | undefined = end; ; ) {
    const page: LeadList = await read(sinceMs, before, fullPage);
    leads.push(...page.data);
    const newestMs = leads[0] === undefined ? sinceMs : Date.parse(leads[0].identified_at);
    if (!page.has_more || page.next_cursor === null) return { leads, newestMs, cursorMs: null };
    if (leads.length >= maxLeads) return { leads, newestMs, cursorMs: Date.parse(page.next_cursor) };
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
