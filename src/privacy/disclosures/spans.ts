/** Spans of time for which a key received all leads that fit a filter. Neighbors become one if that changes no answer. */

/** A range of timestamps, both included. */
export interface Range {
  readonly oldestMs: number;
  readonly newestMs: number;
}

/** The leads that a key received: all of a range that fit a filter, as they were at a state of the imports. */
export interface Span extends Range {
  /** Twice the number of the newest import that it can contain, plus one if that was complete; null if unknown. */
  readonly seen: number | null;
}

/** A page with the cursor of its request: there is no lead between the two. Null for a page without a cursor. */
export type Page = Span & { readonly beforeMs: number | null };

/** Returns whether no lead was added to a range between two states, so that the later one says the same of it. */
export type IsUnchanged = (range: Range, seen: number, later: number) => boolean;

/** An unknown state says less than any other. */
const seenOf = ({ seen }: Span) => seen ?? -1;

/** Merges pages into spans. The result is sorted and disjoint, and has the latest state of each timestamp. */
export function mergePages(known: readonly Span[], pages: readonly Page[], isUnchanged: IsUnchanged): Span[] {
  const beginnings = new Set([...known, ...pages].map(({ oldestMs }) => oldestMs));
  // A page reaches up to its cursor if another span begins there.
  const reaching = pages.map(({ beforeMs, oldestMs, newestMs, seen }): Span => {
    const isJoined = beforeMs !== null && beginnings.has(beforeMs);
    return { oldestMs, newestMs: isJoined ? beforeMs - 1 : newestMs, seen };
  });
  const all = [...known, ...reaching];
  const latest = all.reduce((seen, one) => Math.max(seen, seenOf(one)), -1);
  const current = all.map((span) =>
    span.seen !== null && span.seen < latest && isUnchanged(span, span.seen, latest) ? { ...span, seen: latest } : span,
  );
  const byState = [...Map.groupBy(current, seenOf)].toSorted(([one], [other]) => other - one);
  let merged: Span[] = [];
  for (const [, spans] of byState) {
    const rest = join(spans).flatMap((span) => partsOutside(span, merged));
    merged = [...merged, ...rest].toSorted(byOldest);
  }
  return merged;
}

type Beginning = Pick<Range, "oldestMs">;

/** Compares ranges by their beginnings. */
export const byOldest = (one: Beginning, other: Beginning) => one.oldestMs - other.oldestMs;

/** Joins spans of the same state that overlap or touch. */
function join(spans: readonly Span[]): Span[] {
  const joined: Span[] = [];
  for (const span of spans.toSorted(byOldest)) {
    const last = joined.at(-1);
    if (last === undefined || span.oldestMs > last.newestMs + 1) joined.push(span);
    else joined[joined.length - 1] = { ...last, newestMs: Math.max(last.newestMs, span.newestMs) };
  }
  return joined;
}

/** Returns the parts of a span that others, which are sorted and disjoint, do not cover. */
function partsOutside(span: Span, others: readonly Span[]): Span[] {
  const parts: Span[] = [];
  let fromMs = span.oldestMs;
  for (let place = Math.max(0, countUntil(others, fromMs) - 1); ; place++) {
    const other = others[place];
    const endMs = Math.min(span.newestMs, (other?.oldestMs ?? Number.POSITIVE_INFINITY) - 1);
    if (fromMs <= endMs) parts.push({ ...span, oldestMs: fromMs, newestMs: endMs });
    if (other === undefined || other.oldestMs > span.newestMs) return parts;
    fromMs = Math.max(fromMs, other.newestMs + 1);
  }
}

/** Returns how many of some ranges, which are sorted, begin at a timestamp or before it. */
export function countUntil(sorted: readonly Beginning[], ms: number): number {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((sorted[middle]?.oldestMs ?? 0) <= ms) low = middle + 1;
    else high = middle;
  }
  return low;
}
