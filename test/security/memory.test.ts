/** Long questions are answered like any others, and are not kept: a client with one key could fill the memory. */
import { expect, test } from "bun:test";
import { createRemembered } from "../../src/http/remembered.ts";

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
