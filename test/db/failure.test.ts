/** Which failures mean a full disk, and which have a fallback where something may be missing. */
import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { DrizzleError } from "drizzle-orm";
import { isFull, orElse } from "../../src/db/failure.ts";

const noTable = () => new Database(":memory:").query("SELECT * FROM leads");

test.each<[what: string, read: () => unknown]>([
  ["a missing file", () => readFileSync("/nonexistent")],
  ["a folder in place of a file", () => readFileSync("/")],
  ["a path that is too long", () => readFileSync(`/${"long".repeat(2000)}`)],
  ["a failure of SQLite", noTable],
  [
    "a failure of SQLite within one of Drizzle",
    () => {
      try {
        return noTable();
      } catch (cause) {
        throw new DrizzleError({ message: "failed", cause });
      }
    },
  ],
  ["a text that is not JSON", () => JSON.parse("{")],
  ["a text that is not percent-encoded", () => decodeURIComponent("%")],
])("%s gives the fallback", (_, read) => {
  expect(orElse(read, "fallback")).toBe("fallback");
});

test.each<[what: string, mistake: Error]>([
  ["a property of undefined", new TypeError("undefined is not an object")],
  ["an array that is too long", new RangeError("Invalid array length")],
  ["an assumption that does not hold", new Error("there is no account 7")],
])("%s is a mistake of the code, and is thrown", (_, mistake) => {
  const read = () => {
    throw mistake;
  };
  expect(() => orElse(read, "fallback")).toThrow(mistake);
});

test.each(["SQLITE_FULL", "ENOSPC", "EDQUOT", "EFBIG"])("%s means that there is no room", (code) => {
  expect(isFull(Object.assign(new Error("failed"), { code }))).toBe(true);
});

test.each(["EACCES", "SQLITE_BUSY", ""])("%j means something else than no room", (code) => {
  expect(isFull(Object.assign(new Error("failed"), { code }))).toBe(false);
});
