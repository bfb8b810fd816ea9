/** The pages that were answered, as the ledger of disclosures names them, until they are in it. */
import { dayMs, dayOf } from "../../contract/calendar.ts";
import type { LeadFilter, LeadFilters, LeadQuery } from "../../contract/parameters.ts";
import type { LeadPage } from "../../db/leads.ts";
import { mergePages, type Page } from "./spans.ts";

/** The values of a lead with which filters are compared. */
export type Filterable = Readonly<Record<LeadFilter, string | boolean | null>>;

/** Writes filters as text: the same text for the same leads, and an empty one for a page of all. */
function writeFilter({ city, has_email, pixel_id, state }: LeadFilters): string {
  const text = JSON.stringify({ city, has_email, pixel_id, state } satisfies LeadFilters);
  return text === "{}" ? "" : text;
}

/** Returns a function that tells whether a lead is on the pages with a filter. */
export function readFilter(filter: string): (lead: Filterable) => boolean {
  const wanted: Partial<LeadFilters> = filter === "" ? {} : JSON.parse(filter); // As writeFilter wrote it.
  const names = Object.keys(wanted) as LeadFilter[]; // Object.keys returns string[].
  return (lead) => names.every((name) => lead[name] === wanted[name]);
}

/** One page: it had every lead that fits the filter, from its oldest to its newest timestamp. */
export type DisclosedPage = Page & {
  /** As `writeFilter` writes it. */
  readonly filter: string;
};

/** Returns what a page discloses to whoever receives it; null for a page without leads. */
export function disclosedBy(
  { filters, beforeMs, sinceMs }: LeadQuery,
  { newestMs, oldestMs, nextMs, seen }: LeadPage,
): DisclosedPage | null {
  if (newestMs === null || oldestMs === null) return null;
  // Without a further page there is nothing between `since` and the oldest lead.
  return { filter: writeFilter(filters), oldestMs: nextMs ?? sinceMs ?? oldestMs, newestMs, seen, beforeMs };
}

/** This many pages take some milliseconds to write, in which no request is answered. */
const pagesAtOnce = 2500;
/** The number of pending pages at which they are merged; the next merge is at twice the remaining number. */
const maxPending = 5000;

/** The pages of one key with one filter on one UTC day. */
export interface PendingPages {
  /** `2026-01-31` */
  readonly day: string;
  readonly key: number;
  readonly filter: string;
  pages: Page[];
  /** The number of pages from which on they are joined. */
  joinAt: number;
}

/**
 * Creates the store of served pages that are not in the ledger yet. It hands them over in parts: `plan` makes a
 * change of the ledger of some pages.
 */
export function createPendingPages<Part>(plan: (pages: PendingPages) => Part) {
  /** By UTC day, key, and filter. */
  const pending = new Map<string, PendingPages>();
  let oldestMs: number | null = null;
  let leaving: PendingPages | null = null;

  function take(): PendingPages | null {
    const [first] = pending;
    if (first === undefined) return null;
    const [name, one] = first;
    const pages = one.pages.splice(0, pagesAtOnce);
    if (one.pages.length === 0) pending.delete(name);
    return { ...one, pages };
  }

  return {
    /** Records a page that is answered. */
    note(key: number, page: DisclosedPage, nowMs: number): void {
      const { filter } = page;
      const begin = () => ({ day: dayOf(nowMs), key, filter, pages: [], joinAt: maxPending });
      const one = pending.getOrInsertComputed(`${Math.floor(nowMs / dayMs)} ${key} ${filter}`, begin);
      // Most pages come from the response cache.
      if (one.pages.at(-1) === page) return;
      one.pages.push(page);
      oldestMs ??= nowMs;
      if (one.pages.length < one.joinAt) return;
      one.pages = mergePages([], one.pages, () => false).map((span) => ({ ...span, beforeMs: null }));
      one.joinAt = Math.max(maxPending, 2 * one.pages.length);
    },
    /** Returns when the first page was answered of those that are not in the ledger yet; null without any. */
    pendingSince: (): number | null => oldestMs,
    /** Returns some of the pending pages as a change of the ledger; null without any. They stay until they are dropped. */
    next(): Part | null {
      leaving ??= take();
      return leaving === null ? null : plan(leaving);
    },
    /** Drops the part that was returned last, because the ledger has it now. Returns whether more is pending. */
    drop(): boolean {
      leaving = null;
      if (pending.size === 0) oldestMs = null;
      return pending.size > 0;
    },
  };
}
