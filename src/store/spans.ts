/** Spans of moments: those that overlap or touch become one. */
import type { Span } from "./disclosures.ts";

/** A page knows its cursor as well: the page whose oldest lead is the cursor lies directly above it. */
export type Page = Span & { readonly beforeMs: number | null };

/** What spans became by further ones: all of them now, and what has changed of those that were known. */
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
  let group: { readonly whole: Page; readonly known: readonly Span[] } | null = null;

  function end(): void {
    if (group === null) return;
    const { oldestMs, newestMs } = group.whole;
    const same = group.known.find((one) => one.oldestMs === oldestMs && one.newestMs === newestMs);
    const span = same ?? { oldestMs, newestMs };
    spans.push(span);
    if (same === undefined) added.push(span);
    removed.push(...group.known.filter((one) => one.oldestMs !== oldestMs));
    group = null;
  }

  for (const [next, ...itself] of inOrder(known, pages)) {
    if (group !== null && touches(group.whole, next)) {
      group = { whole: union(group.whole, next), known: [...group.known, ...itself] };
      continue;
    }
    end();
    group = { whole: next, known: itself };
  }
  end();
  return { spans, removed, added };
}

/** Both lists as one, oldest first; behind a span that was known itself. */
function* inOrder(known: readonly Span[], pages: readonly Page[]): Generator<readonly [Page, ...known: Span[]]> {
  let at = 0;
  for (const page of pages) {
    for (let one = known[at]; one !== undefined && one.oldestMs <= page.oldestMs; one = known[++at]) {
      yield [{ ...one, beforeMs: null }, one];
    }
    yield [page];
  }
  for (const one of known.slice(at)) yield [{ ...one, beforeMs: null }, one];
}

/** Of two in order: no moment of a lead that was there is between them. */
function touches(lower: Page, upper: Page): boolean {
  return upper.oldestMs <= lower.newestMs + 1 || upper.oldestMs === lower.beforeMs;
}

function union(lower: Page, upper: Page): Page {
  const highest = upper.newestMs > lower.newestMs ? upper : lower;
  return { ...highest, oldestMs: lower.oldestMs };
}
