/** Spans of pages: what touches becomes one, nothing else is covered, and each timestamp has the latest state. */
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { mergePages, type Page, type Range, type Span } from "../../../src/privacy/disclosures/spans.ts";

const page = (oldestMs: number, newestMs: number, beforeMs: number | null = null, seen: number | null = 3): Page => ({
  oldestMs,
  newestMs,
  beforeMs,
  seen,
});
const span = (oldestMs: number, newestMs: number, seen: number | null = 3): Span => ({ oldestMs, newestMs, seen });
const never = () => false;
const spansOf = (...asked: Parameters<typeof mergePages>) => mergePages(...asked);

describe("pages become one span", () => {
  test.each<[string, Page[], Span[]]>([
    ["if they overlap", [page(1, 5), page(4, 9)], [span(1, 9)]],
    ["if no timestamp lies between them", [page(6, 9), page(1, 5)], [span(1, 9)]],
    ["if one was requested with the oldest timestamp of the other", [page(10, 15), page(1, 5, 10)], [span(1, 15)]],
    ["if one lies within the other", [page(1, 9), page(3, 4)], [span(1, 9)]],
  ])("%s", (_, pages, joined) => {
    expect(spansOf([], pages, never)).toEqual(joined);
  });

  test("and stay separate otherwise", () => {
    expect(spansOf([], [page(7, 9), page(1, 5, 8)], never)).toEqual([span(1, 5), span(7, 9)]);
  });
});

test("a page that saw a later import replaces its part of a span", () => {
  expect(spansOf([span(1, 9, 3)], [page(4, 6, null, 5)], never)).toEqual([span(1, 3, 3), span(4, 6, 5), span(7, 9, 3)]);
});

test("a span whose leads have not changed since takes the latest state of its neighbors", () => {
  const isUnchanged = ({ newestMs }: Range) => newestMs < 6;
  expect(spansOf([span(1, 5, 3), span(6, 9, 3)], [page(10, 12, null, 5)], isUnchanged)).toEqual([
    span(1, 5, 5),
    span(6, 9, 3),
    span(10, 12, 5),
  ]);
  expect(spansOf([span(1, 5, 3)], [page(6, 12, null, 5)], isUnchanged)).toEqual([span(1, 12, 5)]);
});

test("a walk of pages by their cursors is one span", () => {
  const pages = Array.from({ length: 40 }, (_, n) =>
    page(1000 - 25 * n, 1010 - 25 * n, n === 0 ? null : 1025 - 25 * n),
  );
  expect(spansOf([], pages, never)).toEqual([span(25, 1010)]);
});

const timestampsOf = ({ oldestMs, newestMs, seen }: Span) =>
  Array.from({ length: newestMs - oldestMs + 1 }, (_, n) => [oldestMs + n, seen] as const);

const laterOf = (one: number | null | undefined, other: number | null) =>
  one === undefined || one === null || other === null ? (one ?? other) : Math.max(one, other);

test("each covered timestamp has the latest state seen, and no other is covered", () => {
  const seen = fc.option(fc.nat(9), { nil: null });
  const somePage = fc
    .tuple(fc.nat(200), fc.nat(20), seen)
    .map(([from, length, at]) => page(from, from + length, null, at));
  const somePages = fc.array(somePage, { maxLength: 12 });
  fc.assert(
    fc.property(fc.array(somePages, { maxLength: 12 }), (rounds) => {
      const expected = new Map<number, number | null>();
      let spans: readonly Span[] = [];
      for (const pages of rounds) {
        spans = mergePages(spans, pages, never);
        for (const [ms, at] of pages.flatMap(timestampsOf)) expected.set(ms, laterOf(expected.get(ms), at));
      }
      const covered = spans.flatMap(timestampsOf);
      expect(covered).toEqual([...expected].toSorted(([one], [other]) => one - other));
    }),
  );
});
