/** What every list has in common: nothing in it is a sentence, and JSON all the same. */
import { expect, test } from "bun:test";
import { anAdmin } from "../support/admin.ts";

test.each([
  ["pixel list acme", "The account has no pixels.", ["acme"]],
  ["key list acme", "The account has no keys.", ["acme"]],
  ["import list acme", "The account has no imports.", ["acme"]],
  ["audit list", "Nothing is on record.", ["acme"]],
])("%s with nothing in it says: %s", async (line, sentence, accounts) => {
  const admin = anAdmin(accounts);
  expect(await admin.run(...line.split(" "))).toMatchObject({ status: 0, stdout: `${sentence}\n`, stderr: "" });
  expect((await admin.run(...line.split(" "), "--json")).stdout).toBe("[]\n");
});
