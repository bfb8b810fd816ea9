/** The pages that were answered, each with its filter as text, until they are written (disclosure-ledger.ts). */
import { dayMs, dayOf } from "../contract/calendar.ts";
import type { Lead } from "../contract/lead.ts";
import type { LeadFilter, LeadFilters } from "../contract/parameters.ts";
import { cityKey } from "../contract/stored-lead.ts";
import type { DisclosedPage } from "./disclosures.ts";
import type { KeyNumber } from "./reading.ts";
import { joinSpans, type Page } from "./spans.ts";

/** The filters of pages as they are stored, without those that filter nothing. Old rows have these names, too. */
interface StoredFilter {
  readonly city?: string | undefined;
  readonly has_email?: true | undefined;
  readonly pixel_id?: string | undefined;
  readonly state?: string | undefined;
}

/** Returns the filters of a query as text: the same text for the same leads, and an empty one for a page of all. */
export function writeFilter(query: LeadFilters): string {
  const stored: Readonly<Record<LeadFilter, StoredFilter>> = {
    city: { city: query.city ?? undefined },
    hasEmail: { has_email: query.hasEmail || undefined },
    pixelId: { pixel_id: query.pixelId ?? undefined },
    state: { state: query.state ?? undefined },
  };
  const filter = JSON.stringify(Object.assign({}, ...Object.values(stored)));
  return filter === "{}" ? "" : filter;
}

/** Returns a function that tells whether a lead is on the pages with a filter. */
export function readFilter(filter: string): (lead: Lead) => boolean {
  if (filter === "") return () => true;
  const wanted: StoredFilter = JSON.parse(filter);
  const admits: Readonly<Record<LeadFilter, (lead: Lead) => boolean>> = {
    city: ({ city }) => wanted.city === undefined || (city !== null && cityKey(city) === wanted.city),
    hasEmail: ({ email }) => wanted.has_email !== true || email !== null,
    pixelId: ({ pixel_id }) => wanted.pixel_id === undefined || pixel_id === wanted.pixel_id,
    state: ({ state }) => wanted.state === undefined || state === wanted.state,
  };
  return (lead) => Object.values(admits).every((admit) => admit(lead));
}

/** Pages of one day, key and filter, in whatever order they were answered. */
export interface NotedPages {
  /** `2026-01-31` */
  readonly day: string;
  readonly key: KeyNumber;
  readonly filter: string;
  pages: Page[];
}

/**
 * This many pages take some milliseconds to write, in which no request is answered. Fewer would cost more: pages at random
 * deep down lie all over the table, and each part would write most of it.
 */
const pagesAtOnce = 2500;
/** When this many pages wait, they are joined. */
const mostPending = 5000;

/** Makes what keeps the pages that were answered and are not in the store yet, by UTC day, key and filter. */
export function createDisclosureNotes() {
  const noted = new Map<string, NotedPages>();
  let last: { readonly key: KeyNumber; readonly page: DisclosedPage; readonly day: number } | null = null;
  return {
    note(key: KeyNumber, page: DisclosedPage, nowMs: number): void {
      const day = Math.floor(nowMs / dayMs);
      // Most pages are asked for again and again, and come from the response cache.
      if (last?.page === page && last.key === key && last.day === day) return;
      last = { key, page, day };
      const { filter } = page;
      const name = `${day} ${key} ${filter}`;
      const noting = noted.getOrInsertComputed(name, () => ({ day: dayOf(nowMs), key, filter, pages: [] }));
      noting.pages.push(page);
      if (noting.pages.length % mostPending === 0) noting.pages = joinSpans(noting.pages);
    },
    /** Takes some of the pages that wait; null when none waits. */
    take(): NotedPages | null {
      const [first] = noted;
      if (first === undefined) return null;
      const [name, noting] = first;
      const pages = noting.pages.splice(0, pagesAtOnce);
      if (noting.pages.length === 0) noted.delete(name);
      return { ...noting, pages };
    },
    isEmpty: () => noted.size === 0,
  };
}
