/** Keys against guessing: their number, the cost of a wrong one, and what its response reveals. */
import { expect, test } from "bun:test";
import { createKey, digestOf } from "../../src/contract/key.ts";
import { serve } from "../support/harness.ts";

test("keys are unique, and every character is equally frequent at every position", () => {
  const keys = Array.from({ length: 20_000 }, createKey);
  expect(new Set(keys).size).toBe(keys.length);
  const letters = new Map<string, number>();
  for (const key of keys) for (const letter of key.slice(3, -6)) letters.set(letter, (letters.get(letter) ?? 0) + 1);
  const expected = (keys.length * 32) / 62;
  expect(letters.size).toBe(62);
  // Six standard deviations of a fair draw are 0.06; a modulo of a byte by 62 would be 0.2 off.
  for (const count of letters.values()) expect(Math.abs(count / expected - 1)).toBeLessThan(0.06);
});

/** A server, and the digests of the keys that it looks up in its database. */
async function serveAndListen() {
  const asked: string[] = [];
  const server = await serve({
    store: (real) => ({
      ...real,
      keys: {
        find(digest) {
          asked.push(digest.toString("hex"));
          return real.keys.find(digest);
        },
      },
    }),
  });
  return { ...server, asked };
}

test("a key without a valid checksum never reaches the database, and is answered like any other", async () => {
  const { as, asked } = await serveAndListen();
  const wellFormed = createKey();
  const guesses = [`${createKey().slice(0, -1)}!`, createKey().slice(0, -1), `lf_${"0".repeat(38)}`, "x", wellFormed];
  const answers = await Promise.all(guesses.map((guess) => as(guess).get("/leads")));
  expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
  expect(answers[0]?.body.error.code).toBe("invalid_api_key");
  expect(asked).toEqual([digestOf(wellFormed).toString("hex")]);
});

test("a live key is looked up again only when the database has changed", async () => {
  const { as, aKey, asked } = await serveAndListen();
  const client = as(aKey());
  for (const path of ["/leads", "/pixels"]) await client.get(path);
  expect(asked).toHaveLength(1);
  aKey();
  for (const path of ["/leads", "/pixels"]) await client.get(path);
  expect(asked).toHaveLength(2);
});
