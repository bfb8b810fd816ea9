/** Names and cells of a stranger that are as long as a record can be: a file is read in time that grows with it. */
import { expect, test } from "bun:test";
import { leadsOf, shown } from "../import/reading.ts";

const long = "k".repeat(400_000);
const owners = "visitor".repeat(140_000);

test.each([
  ["a header", `${owners},email\n1,dana@example.com\n`],
  ["a record", `{"${owners}":1,"email":"dana@example.com"}\n`],
  ["a list within a record", `{"${owners}":[{"email":"lee@example.com"}],"email":"dana@example.com"}\n`],
])("a name in %s that repeats an owner 100,000 times is ignored, and its row is read", async (_, text) => {
  expect((await leadsOf(text)).map(shown)).toEqual([{ email: "dana@example.com" }]);
});

test.each([
  ["the values of a list", `[${'{"a":1},'.repeat(40_000)}1]`],
  ["many names", `{${Array.from({ length: 30_000 }, (_, n) => `"n${n}":1`).join()}}`],
])("values under a very long name %s are not kept", async (_, value) => {
  const text = `{"email":"dana@example.com","${long}":${value}}\n`;
  expect((await leadsOf(text)).map(shown)).toEqual([{ email: "dana@example.com" }]);
});

test("nested names that are long together are not kept", async () => {
  const names = Array.from({ length: 1900 }, (_, n) => `"n${n}":1`).join();
  const around = Array.from({ length: 30 }, (_, level) => `{"${level}${"q".repeat(30_000)}":`);
  const text = `{"email":"dana@example.com","a":${around.join("")}{${names}}${"}".repeat(30)}}\n`;
  expect((await leadsOf(text)).map(shown)).toEqual([{ email: "dana@example.com" }]);
});
