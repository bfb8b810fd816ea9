/** The pages that were noted, on their way into the store: those that touch become one. */
import { createDisclosureNotes, type NotedPages } from "./disclosed-pages.ts";
import type { DisclosurePart, DisclosureReader, Span } from "./disclosures.ts";
import type { KeyNumber } from "./reading.ts";
import { joinSpans, type MergedSpans, mergeSpans } from "./spans.ts";

/** A key with more filters than this on a day gets pages without a filter: that says too much, and never too little. */
const mostFilters = 100;
/** At most this many spans are kept in memory, so that they need not be read again. */
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
