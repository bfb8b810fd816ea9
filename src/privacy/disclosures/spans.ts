/**
 * Spans of time for which a key received all leads that fit a filter. Each knows the newest import that its pages can
 * contain (`disclosures.seen` in the schema). Neighbors become one if that changes no answer.
 */

/** From one timestamp of leads to another, both included. */
export interface Span {
  readonly oldestMs: number;
  readonly newestMs: number;
  /** Twice the number of the newest import that it can contain, plus one if that was complete; null if unknown. */
  readonly seen: number | null;
}

/** A page with the cursor of its request: no lead lies between the two. Null for a page without a cursor. */
export type Page = Span & { readonly beforeMs: number | null };

/** Tells whether no lead of the span was added between two states, so that the later one says the same of it. */
export type IsUnchanged = (span: Span, seen: number, later: number) => boolean;

const seenOf = ({ seen }: Span) => seen ?? -1;

/** The spans after a merge: all of them, and which of them changed. */
export interface MergedSpans {
  readonly spans: readonly Span[];
  readonly removed: readonly Span[];
  readonly added: readonly Span[];
}

/** Merges pages, in whatever order they were read, into spans that are sorted and disjoint, and so is the result. */
export function mergePages(known: readonly Span[], pages: readonly Page[], isUnchanged: IsUnchanged): MergedSpans {
  if (pages.length === 0) return { spans: known, removed: [], added: [] };
  // There may be many thousands of others; they stay as they are.
  const reach = pages.map(({ newestMs, beforeMs }) => Math.max(newestMs + 1, beforeMs ?? newestMs));
  const from = countBefore(known, ({ newestMs }) => newestMs + 1 < least(pages.map(({ oldestMs }) => oldestMs)));
  const to = countBefore(known, ({ oldestMs }) => oldestMs <= -least(reach.map((ms) => -ms)));
  const near = known.slice(from, to);
  const merged = compact(overlayAll(near, pages), isUnchanged);
  const spans = [...known.slice(0, from), ...merged, ...known.slice(to)];
  return { spans, removed: without(near, merged), added: without(merged, near) };
}

const least = (numbers: readonly number[]) => numbers.reduce((one, other) => Math.min(one, other), Infinity);

/** How many spans at the beginning meet a condition that all before them meet, too. */
function countBefore(spans: readonly Span[], isBefore: (span: Span) => boolean): number {
  let low = 0;
  let high = spans.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    const span = spans[middle];
    if (span !== undefined && isBefore(span)) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The spans that another list does not have. */
function without(spans: readonly Span[], others: readonly Span[]): Span[] {
  const nameOf = ({ oldestMs, newestMs, seen }: Span) => `${oldestMs} ${newestMs} ${seen}`;
  const names = new Set(others.map(nameOf));
  return spans.filter((span) => !names.has(nameOf(span)));
}

function overlayAll(known: readonly Span[], pages: readonly Page[]): readonly Span[] {
  const beginnings = new Set([...known, ...pages].map(({ oldestMs }) => oldestMs));
  // A page reaches up to its cursor if something begins there.
  const reaching = pages.map(({ beforeMs, oldestMs, newestMs, seen }): Span => {
    const isJoined = beforeMs !== null && beforeMs > newestMs && beginnings.has(beforeMs);
    return { oldestMs, newestMs: isJoined ? beforeMs - 1 : newestMs, seen };
  });
  const bySeen = [...Map.groupBy(reaching, seenOf)].toSorted(([one], [other]) => one - other);
  let spans = known;
  for (const [seen, group] of bySeen) {
    const joined = join(group.toSorted((one, other) => one.oldestMs - other.oldestMs));
    // The later state counts; an unknown one says less than any other.
    const later = spans.filter((span) => seenOf(span) > seen);
    const earlier = spans.filter((span) => seenOf(span) <= seen);
    spans = overlay(overlay(earlier, joined), later);
  }
  return spans;
}

/** Joins sorted spans of the same state that overlap or touch. */
function join(sorted: readonly Span[]): Span[] {
  const joined: Span[] = [];
  for (const span of sorted) {
    const last = joined.at(-1);
    if (last === undefined || span.oldestMs > last.newestMs + 1) joined.push(span);
    else joined[joined.length - 1] = { ...last, newestMs: Math.max(last.newestMs, span.newestMs) };
  }
  return joined;
}

/** All of `top`, and of `below` what it does not cover. Both are sorted and disjoint, and so is the result. */
function overlay(below: readonly Span[], top: readonly Span[]): Span[] {
  if (top.length === 0) return [...below];
  const rest: Span[] = [];
  let first = 0;
  for (const span of below) {
    while ((top[first]?.newestMs ?? Infinity) < span.oldestMs) first++;
    let last = first;
    while ((top[last]?.oldestMs ?? Infinity) <= span.newestMs) last++;
    rest.push(...uncovered(span, top.slice(first, last)));
  }
  return [...rest, ...top].toSorted((one, other) => one.oldestMs - other.oldestMs);
}

/** The parts of a span that others, which overlap it, do not cover. */
function uncovered({ oldestMs, newestMs, seen }: Span, over: readonly Span[]): Span[] {
  const begins = [oldestMs, ...over.map((one) => one.newestMs + 1)];
  const ends = [...over.map((one) => one.oldestMs - 1), newestMs];
  const parts = begins.map((begin, place): Span => ({ oldestMs: begin, newestMs: ends[place] ?? newestMs, seen }));
  return parts.filter((part) => part.oldestMs <= part.newestMs);
}

/** Joins neighbors of the same state, and those whose earlier state may be called the later one. */
function compact(spans: readonly Span[], isUnchanged: IsUnchanged): Span[] {
  const compacted: Span[] = [];
  for (const span of spans) {
    const last = compacted.at(-1);
    if (last === undefined || span.oldestMs > last.newestMs + 1) compacted.push(span);
    else {
      const seen = commonState(last, span, isUnchanged);
      if (seen === undefined) compacted.push(span);
      else compacted[compacted.length - 1] = { oldestMs: last.oldestMs, newestMs: span.newestMs, seen };
    }
  }
  return compacted;
}

function commonState(one: Span, other: Span, isUnchanged: IsUnchanged): number | null | undefined {
  if (one.seen === other.seen) return one.seen;
  if (one.seen === null || other.seen === null) return undefined;
  const [earlier, later] = one.seen < other.seen ? [one, other.seen] : [other, one.seen];
  return isUnchanged(earlier, earlier.seen ?? 0, later) ? later : undefined;
}
