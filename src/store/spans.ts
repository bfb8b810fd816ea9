/** Spans of moments: those that overlap or touch become one. */
import type { Span } from "./disclosures.ts";

/**
 * A page has its cursor as well: no lead lies between the two, so the page whose oldest lead is the cursor touches it.
 */
export type Page = Span & { readonly beforeMs: number | null };

/** The spans after a merge: all of them, and which of them changed. */
export interface MergedSpans {
  readonly spans: readonly Span[];
  readonly removed: readonly Span[];
  /** Where a known one began at the same moment, it is replaced. */
  readonly added: readonly Span[];
}

/** Joins pages, in whatever order they came; oldest first. */
export function joinSpans(pages: readonly Page[]): Page[] {
  const joined: Page[] = [];
  for (const page of pages.toSorted((one, other) => one.oldestMs - other.oldestMs)) {
    const before = joined.at(-1);
    if (before !== undefined && touches(before, page)) joined[joined.length - 1] = union(before, page);
    else joined.push(page);
  }
  return joined;
}

/** Merges pages into spans; both are oldest first, and no two of the known touch. */
export function mergeSpans(known: readonly Span[], pages: readonly Page[]): MergedSpans {
  const spans: Span[] = [];
  const removed: Span[] = [];
  const added: Span[] = [];
  let next = 0;
  let group: { whole: Page; readonly taken: Span[] } | null = null;

  function end(): void {
    if (group === null) return;
    const { oldestMs, newestMs } = group.whole;
    const same = group.taken.find((one) => one.oldestMs === oldestMs && one.newestMs === newestMs);
    spans.push(same ?? { oldestMs, newestMs });
    if (same === undefined) added.push({ oldestMs, newestMs });
    for (const one of group.taken) if (one.oldestMs !== oldestMs) removed.push(one);
  }

  for (const page of pages) {
    if (group !== null && touches(group.whole, page)) group.whole = union(group.whole, page);
    else {
      end();
      // There may be thousands of older spans; they stay as they are.
      for (let one = known[next]; one !== undefined && isBelow(one, page); one = known[++next]) spans.push(one);
      group = { whole: page, taken: [] };
    }
    for (let one = known[next]; one !== undefined && touches(group.whole, one); one = known[++next]) {
      group.whole = union(group.whole, { ...one, beforeMs: null });
      group.taken.push(one);
    }
  }
  end();
  for (let one = known[next]; one !== undefined; one = known[++next]) spans.push(one);
  return { spans, removed, added };
}

function isBelow(one: Span, page: Page): boolean {
  return one.newestMs + 1 < page.oldestMs;
}

/** Whether no lead can lie between a page and a span that begins no earlier: they meet, or it begins at the page's cursor. */
function touches(page: Page, other: Span): boolean {
  return other.oldestMs <= page.newestMs + 1 || other.oldestMs === page.beforeMs;
}

function union(one: Page, other: Page): Page {
  const { newestMs, beforeMs } = other.newestMs > one.newestMs ? other : one;
  return { oldestMs: Math.min(one.oldestMs, other.oldestMs), newestMs, beforeMs };
}
