/** The search for what was erased finds every needle where it is, and none where it is not. */
import { expect, test } from "bun:test";
import fc from "fast-check";
import { createSearch, leastLength } from "../../src/sqlite/privacy/byte-search.ts";

const some = { minLength: leastLength, maxLength: 12 };
const letters = fc.array(fc.constantFrom(97, 98, 99), some).map((bytes) => Buffer.from(bytes));
const any = fc.uint8Array(some).map((bytes) => Buffer.from(bytes));

test("what is found is what a plain search finds, however alike the needles and the text are", () => {
  const world = fc.oneof(letters, any);
  fc.assert(
    fc.property(
      fc.array(world, { minLength: 1, maxLength: 20 }),
      fc.array(world, { maxLength: 30 }),
      (needles, parts) => {
        const text = Buffer.concat(parts);
        const found = new Set<number>();
        createSearch(needles)(text, found);
        const plain = needles.flatMap((needle, number) => (text.includes(needle) ? [number] : []));
        expect([...found].toSorted((a, b) => a - b)).toEqual(plain);
      },
    ),
    { numRuns: 500 },
  );
});

test("needles longer than a leap can be are found", () => {
  const long = Buffer.alloc(700, "abcdefg");
  const found = new Set<number>();
  createSearch([long, Buffer.from("needle in hay")])(Buffer.concat([Buffer.alloc(999), long]), found);
  expect([...found]).toEqual([0]);
});
