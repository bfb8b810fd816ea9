/** Spans of pages: what touches becomes one, and nothing else is covered. */
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { Span } from "../../src/store/disclosures.ts";
import { joinSpans, type MergedSpans, mergeSpans, type Page } from "../../src/store/spans.ts";

const page = (oldestMs: number, newestMs: number, beforeMs: number | null = null): Page => ({
  oldestMs,
  newestMs,
  beforeMs,
});
const span = (oldestMs: number, newestMs: number) => ({ oldestMs, newestMs });

describe("pages become one span", () => {
  test.each([
    ["where they overlap", [page(1, 5), page(4, 9)], [page(1, 9)]],
    ["where no moment lies between them", [page(6, 9), page(1, 5)], [page(1, 9)]],
    ["where one was asked for with the oldest moment of the other", [page(10, 15), page(1, 5, 10)], [page(1, 15)]],
    ["where one lies within the other", [page(1, 9), page(3, 4)], [page(1, 9)]],
  ])("%s", (_, pages, joined) => {
    expect(joinSpans(pages)).toEqual(joined);
  });

  test("and stay apart otherwise", () => {
    expect(joinSpans([page(7, 9), page(1, 5, 8)])).toEqual([page(1, 5, 8), page(7, 9)]);
  });
});

test("a walk of pages by their cursors is one span", () => {
  const pages = Array.from({ length: 40 }, (_, n) =>
    page(1000 - 25 * n, 1010 - 25 * n, n === 0 ? null : 1025 - 25 * n),
  );
  const { spans, added, removed } = mergeSpans([], joinSpans(pages));
  expect({ spans, added, removed }).toEqual({ spans: [span(25, 1010)], added: [span(25, 1010)], removed: [] });
});

/** What a keeper has that is told of changes alone. */
function follow(kept: Map<number, number>, { removed, added }: Pick<MergedSpans, "removed" | "added">): void {
  for (const one of removed) {
    expect(kept.get(one.oldestMs)).toBe(one.newestMs);
    kept.delete(one.oldestMs);
  }
  for (const one of added) kept.set(one.oldestMs, one.newestMs);
}

const momentsOf = ({ oldestMs, newestMs }: Span) =>
  Array.from({ length: newestMs - oldestMs + 1 }, (_, n) => oldestMs + n);

test("merging says which spans go and which come: who follows that has all that is covered, and no more", () => {
  const somePage = fc.tuple(fc.nat(300), fc.nat(9)).map(([from, length]) => page(from, from + length));
  const somePages = fc.array(somePage, { maxLength: 12 });
  fc.assert(
    fc.property(fc.array(somePages, { maxLength: 12 }), (rounds) => {
      const kept = new Map<number, number>();
      let spans: readonly Span[] = [];
      for (const pages of rounds) {
        const merged = mergeSpans(spans, joinSpans(pages));
        follow(kept, merged);
        spans = merged.spans;
        const inOrder = [...kept].toSorted(([one], [other]) => one - other);
        expect(inOrder.map(([oldestMs, newestMs]) => span(oldestMs, newestMs))).toEqual([...spans]);
      }
      const covered = new Set(rounds.flat().flatMap(momentsOf));
      expect(spans.flatMap(momentsOf)).toEqual([...covered].toSorted((one, other) => one - other));
    }),
  );
});
