/** The pages that were noted, on their way into the store: those that touch become one. */
import { dayMs, dayOf } from "../contract/time.ts";
import type { DisclosedPage, DisclosurePart, DisclosureReader, Span } from "./disclosures.ts";
import type { KeyNumber } from "./reading.ts";
import { joinSpans, type MergedSpans, mergeSpans, type Page } from "./spans.ts";

/** A key with more filters than this on a day gets pages without a filter: that says too much, and never too little. */
const mostFilters = 100;
/** So many spans are kept in memory, so that they need not be read again. */
const mostRemembered = 200_000;

/** What is kept of a key and day, as this process knows it. */
type Known = Map<string, readonly Span[]>;

export function createDisclosureLedger(kept: DisclosureReader) {
  const notes = createDisclosureNotes();
  const known = createMemory(kept);
  let leaving: NotedPages | null = null;
  let written: MergedSpans | null = null;
  let part: DisclosurePart | null = null;

  return {
    note: notes.note,
    /**
     * Some of the pages that wait, as a change of what the store has; null when none waits. They stay here until they are
     * dropped.
     */
    next(): DisclosurePart | null {
      leaving ??= notes.take();
      if (leaving === null) return null;
      const { key, day, pages } = leaving;
      const before = known.of(key, day);
      const isOneTooMany = !before.has(leaving.filter) && before.size >= mostFilters;
      const filter = isOneTooMany ? "" : leaving.filter;
      written = mergeSpans(before.get(filter) ?? [], joinSpans(pages));
      return (part = { key, day, filter, removed: written.removed, added: written.added });
    },
    /** Drops the part that was asked for last, because it is in the store now; false when there is no more. */
    drop(): boolean {
      if (part !== null && written !== null) known.keep(part, written.spans);
      leaving = null;
      written = null;
      part = null;
      return !notes.isEmpty();
    },
  };
}

/** What the store has of a key and day, read once, as long as memory for it is left. */
function createMemory(kept: DisclosureReader) {
  const days = new Map<string, Map<KeyNumber, Known>>();
  let remembered = 0;
  return {
    of(key: KeyNumber, day: string): Known {
      const keys = days.getOrInsertComputed(day, () => new Map());
      return keys.getOrInsertComputed(key, () => {
        const known: Known = new Map(kept.of(key, day));
        for (const spans of known.values()) remembered += spans.length;
        return known;
      });
    },
    keep({ key, day, filter }: DisclosurePart, spans: readonly Span[]): void {
      const known = this.of(key, day);
      remembered += spans.length - (known.get(filter)?.length ?? 0);
      known.set(filter, spans);
      const isAnotherDay = days.size > 1;
      if (!isAnotherDay && remembered <= mostRemembered) return;
      days.clear();
      remembered = 0;
    },
  };
}

/** Pages of one day, key and filter, in whatever order they were answered. */
interface NotedPages {
  /** `2026-01-31` */
  readonly day: string;
  readonly key: KeyNumber;
  readonly filter: string;
  readonly pages: Page[];
}

/**
 * So many pages take some milliseconds to write, in which no request is answered. Fewer would cost more: pages at random
 * deep down lie all over the table, and each part would write most of it.
 */
const pagesAtOnce = 2500;
/** So many pages may wait before they are joined. */
const mostPending = 5000;

/** Pages that were answered and are not in the store yet, by UTC day, key and filter. */
function createDisclosureNotes() {
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
      if (noting.pages.length % mostPending === 0) noting.pages.push(...joinSpans(noting.pages.splice(0)));
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
