/** The search for what was erased finds every value where it is, and none where it is not. */
import { expect, test } from "bun:test";
import fc from "fast-check";
import { createSearch, leastLength } from "../../src/privacy/search/byte-search.ts";

const some = { minLength: leastLength, maxLength: 12 };
const letters = fc.array(fc.constantFrom(97, 98, 65), some).map((bytes) => Buffer.from(bytes));
const any = fc.uint8Array(some).map((bytes) => Buffer.from(bytes));
const world = fc.oneof(letters, any);

/** Upper and lower case of ASCII are one; a byte is a letter of latin1. */
const fold = (bytes: Uint8Array) =>
  Buffer.from(bytes)
    .toString("latin1")
    .replaceAll(/[A-Z]/g, (letter) => letter.toLowerCase());

/** Every place at which a value ends, as a plain search finds it. */
function plainEnds(values: readonly (readonly Uint8Array[])[], text: Uint8Array): string[] {
  const places = values.flatMap((forms, value) =>
    [...new Set(forms.map(fold))].flatMap((form) =>
      Array.from(text, (_, start) => start)
        .filter((start) => fold(text).startsWith(form, start))
        .map((start) => `${value} ${start} ${start + form.length}`),
    ),
  );
  return places.toSorted();
}

test("what is found is what a plain search finds, at each of its places, however alike the values and the text are", () => {
  const values = fc.array(fc.uniqueArray(world, { minLength: 1, maxLength: 3, selector: fold }), {
    minLength: 1,
    maxLength: 15,
  });
  fc.assert(
    fc.property(values, fc.array(world, { maxLength: 30 }), (wanted, parts) => {
      const text = Buffer.concat(parts);
      const found: string[] = [];
      const search = createSearch(wanted);
      search.look(text, 0, text.length, (value, start, end) => found.push(`${value} ${start} ${end}`));
      expect(found.toSorted()).toEqual(plainEnds(wanted, text));
    }),
    { numRuns: 500 },
  );
});

test("a text that is looked through in parts with a little overlap gives each place once", () => {
  const values = [[Buffer.from("needle")], [Buffer.from("needle in hay"), Buffer.from("HAY, HAY")]];
  const text = Buffer.from("hay, needle in hay, hay, NEEDLE in hay and a needle");
  const { look, reach } = createSearch(values);
  const whole: number[] = [];
  look(text, 0, text.length, (value) => whole.push(value));
  for (let size = 1; size < text.length; size++) {
    const inParts: number[] = [];
    for (let at = 0; at < text.length; at += size) {
      const from = Math.max(0, at - reach);
      look(text.subarray(from, at + size), at - from, at + size - from, (value) => inParts.push(value));
    }
    expect(inParts.toSorted()).toEqual(whole.toSorted());
  }
});

test("long values are found", () => {
  const long = Buffer.alloc(700, "abcdefg");
  const found = new Set<number>();
  const text = Buffer.concat([Buffer.alloc(999), long]);
  createSearch([[long], [Buffer.from("needle in hay")]]).look(text, 0, text.length, (value) => found.add(value));
  expect([...found]).toEqual([0]);
});
