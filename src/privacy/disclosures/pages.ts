/** The pages that were answered, until they are in the ledger: noted in memory by UTC day, key, and filter. */
import { dayMs, dayOf } from "../../contract/calendar.ts";
import type { LeadFilter, LeadFilters } from "../../contract/parameters.ts";
import { type IsUnchanged, type MergedSpans, mergePages, type Page, type Span } from "./spans.ts";

/** One page: it had every lead that fits the filter, from its oldest to its newest timestamp. */
export type DisclosedPage = Page & {
  /** As `writeFilter` writes it. */
  readonly filter: string;
};

/** What a filter asks of a lead. */
export interface Filterable {
  readonly pixel_id: string;
  readonly state: string | null;
  /** In the form in which cities are compared. */
  readonly city: string | null;
  readonly has_email: boolean;
}

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
export function readFilter(filter: string): (lead: Filterable) => boolean {
  if (filter === "") return () => true;
  const wanted: StoredFilter = JSON.parse(filter);
  const admits: Readonly<Record<LeadFilter, (lead: Filterable) => boolean>> = {
    city: ({ city }) => wanted.city === undefined || city === wanted.city,
    hasEmail: ({ has_email }) => wanted.has_email !== true || has_email,
    pixelId: ({ pixel_id }) => wanted.pixel_id === undefined || pixel_id === wanted.pixel_id,
    state: ({ state }) => wanted.state === undefined || state === wanted.state,
  };
  return (lead) => Object.values(admits).every((admit) => admit(lead));
}

/** What one key received through one filter on one UTC day, as a change of what the ledger has. */
export interface DisclosurePart {
  readonly key: number;
  /** `2026-01-31` */
  readonly day: string;
  readonly filter: string;
  readonly removed: readonly Span[];
  readonly added: readonly Span[];
}

/** What the ledger has. */
export interface DisclosureReader {
  /** The spans of a key and day, by filter, oldest first. */
  of(key: number, day: string): ReadonlyMap<string, readonly Span[]>;
  /** Prepares the question which leads were added between two states, for the account of a key. */
  unchanged(key: number): IsUnchanged;
}

/** Within this time a page that was answered is in the ledger, wherever its server runs. */
export const notedWithinMs = 1_500;

/** A key with more filters on a day gets pages without a filter: that says too much, and never too little. */
const maxFilters = 100;
/** At most this many spans are kept in memory, so that they need not be read again. */
const maxRemembered = 200_000;
/** This many pages take some milliseconds to write, in which no request is answered. */
const pagesAtOnce = 2500;
/** When this many pages wait, they are joined; and again when there are twice as many as that left. */
const maxPending = 5000;

interface NotedPages {
  readonly day: string;
  readonly key: number;
  readonly filter: string;
  pages: Page[];
  /** How many have to wait to be joined. */
  joinAt: number;
}

const neverUnchanged: IsUnchanged = () => false;

/** Makes what keeps the pages that were answered and are not in the ledger yet, by UTC day, key, and filter. */
function createNotes() {
  const noted = new Map<string, NotedPages>();
  let last: { readonly key: number; readonly page: DisclosedPage; readonly day: number } | null = null;
  return {
    /** Notes a page; false for the same page again, as most are that come from the response cache. */
    add(key: number, page: DisclosedPage, nowMs: number): boolean {
      const day = Math.floor(nowMs / dayMs);
      if (last?.page === page && last.key === key && last.day === day) return false;
      last = { key, page, day };
      const { filter } = page;
      const begin = () => ({ day: dayOf(nowMs), key, filter, pages: [], joinAt: maxPending });
      const noting = noted.getOrInsertComputed(`${day} ${key} ${filter}`, begin);
      noting.pages.push(page);
      if (noting.pages.length < noting.joinAt) return true;
      const { spans } = mergePages([], noting.pages, neverUnchanged);
      noting.pages = spans.map((span) => ({ ...span, beforeMs: null }));
      noting.joinAt = Math.max(maxPending, 2 * spans.length);
      return true;
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

/** Makes what notes pages and hands them over to the ledger in parts. */
export function createDisclosureLedger(kept: () => DisclosureReader) {
  const notes = createNotes();
  const known = createMemory(kept);
  let oldestMs: number | null = null;
  let leaving: NotedPages | null = null;
  let part: (DisclosurePart & MergedSpans) | null = null;
  return {
    /** Notes a page that is answered. */
    note(key: number, page: DisclosedPage, nowMs: number): void {
      if (notes.add(key, page, nowMs)) oldestMs ??= nowMs;
    },
    /** When the first page was answered of those that are not in the ledger yet; null without any. */
    waitingSince: (): number | null => oldestMs,
    /** Some of the pages that wait, as a change of the ledger; null without any. They stay here until they are dropped. */
    next(): DisclosurePart | null {
      leaving ??= notes.take();
      if (leaving === null) return null;
      const { key, day, pages } = leaving;
      const before = known.of(key, day);
      const isOneTooMany = !before.has(leaving.filter) && before.size >= maxFilters;
      const filter = isOneTooMany ? "" : leaving.filter;
      part = { key, day, filter, ...mergePages(before.get(filter) ?? [], pages, kept().unchanged(key)) };
      return part;
    },
    /** Drops the part that was asked for last, because the ledger has it now; false if there is no more. */
    drop(): boolean {
      if (part !== null) known.keep(part, part.spans);
      leaving = null;
      part = null;
      if (notes.isEmpty()) oldestMs = null;
      return !notes.isEmpty();
    },
  };
}

/** What the ledger has of a key and day, read once, as long as memory for it is left. */
function createMemory(kept: () => DisclosureReader) {
  const days = new Map<string, Map<number, Map<string, readonly Span[]>>>();
  let remembered = 0;
  const of = (key: number, day: string) => {
    const keys = days.getOrInsertComputed(day, () => new Map<number, Map<string, readonly Span[]>>());
    return keys.getOrInsertComputed(key, () => {
      const known = new Map(kept().of(key, day));
      for (const spans of known.values()) remembered += spans.length;
      return known;
    });
  };
  return {
    of,
    keep({ key, day, filter }: DisclosurePart, spans: readonly Span[]): void {
      const known = of(key, day);
      remembered += spans.length - (known.get(filter)?.length ?? 0);
      known.set(filter, spans);
      if (days.size <= 1 && remembered <= maxRemembered) return;
      days.clear();
      remembered = 0;
    },
  };
}
