/** Long questions are answered like any others, and are not kept: a client with one key could fill the memory. */
import { expect, test } from "bun:test";
import { createRemembered } from "../../src/http/response-cache.ts";

/** How often a page is made that is asked for three times. */
function madeFor(question: string): number {
  const { recall } = createRemembered();
  let made = 0;
  const make = () => {
    made++;
    return Buffer.from("{}");
  };
  for (let ask = 0; ask < 3; ask++) recall(1, question, make);
  return made;
}

test("a question of ordinary length is remembered once it was asked twice", () => {
  expect(madeFor("1 limit=25&state=CA&city=San%20Diego&before=2026-01-31T09%3A15%3A00.123Z")).toBe(2);
});

test("a question as long as a head can be is made anew each time", () => {
  expect(madeFor(`1 since=2026-01-31T09:15:00.${"1".repeat(8000)}Z`)).toBe(3);
  expect(madeFor(`1 limit=25${"&".repeat(8000)}`)).toBe(3);
});

test("however many pages are asked for twice, 20 MB of them are remembered and no more", () => {
  const { recall } = createRemembered();
  const mebibyte = Buffer.alloc(1024 * 1024);
  const questions = Array.from({ length: 100 }, (_, n) => `1 limit=${n}`);
  for (const question of [...questions, ...questions]) recall(1, question, () => mebibyte);
  let made = 0;
  for (const question of questions) {
    recall(1, question, () => {
      made++;
      return new Uint8Array();
    });
  }
  expect(made).toBeGreaterThanOrEqual(80);
  expect(made).toBeLessThan(100);
});
