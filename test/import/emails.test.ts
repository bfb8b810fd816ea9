/** Email addresses in cells: bare, so that a search finds them, with a warning if something was cut. */
import { expect, test } from "bun:test";
import { allEmails, firstEmail } from "../../src/import/map/values/emails.ts";
import { leadOf, warningsOf } from "./reading.ts";

const read = (cell: string) => firstEmail(cell);

test.each([
  ["dana@example.com", "dana@example.com"],
  [" Dana@Example.COM ", "Dana@Example.COM"],
  ["d@localhost", "d@localhost"],
  ["o'brien@example.com", "o'brien@example.com"],
  ["d+a=b/c@example.co.uk", "d+a=b/c@example.co.uk"],
  ["用户@例子.公司", "用户@例子.公司"],
  ['[{"value":"lee@example.com","type":"personal"}]', "lee@example.com"],
  ['["","lee@example.com"]', "lee@example.com"],
  ['[",","lee@example.com"]', "lee@example.com"],
  ["dana@example.com, lee@example.com", "dana@example.com"],
  ["dana@example.com;lee@example.com|sam@example.com", "dana@example.com"],
  ["dana@example.com\nlee@example.com", "dana@example.com"],
  ['["dana@example.com","lee@example.com"]', "dana@example.com"],
])("%j is %j without a warning", (cell, email) => {
  expect(read(cell)).toEqual({ value: email, cut: false });
});

const before = ["none, ", "a@@b; ", "Dana W ", "Email: ", "email=", "mailto:", "*", "•", "✉️", "\u200b"];
const after = [
  "/lee@example.com",
  " and lee@example.com",
  " (work)",
  " (was lee@example.com)",
  ".",
  "…",
  "*",
  "?subject=Hi",
];
const around = ["<>", "''", "“”", "«»", "‘’", "{}"];

test.each([
  ...before.map((text) => `${text}dana@example.com`),
  ...after.map((text) => `dana@example.com${text}`),
  ...around.map(([open, close]) => `${open}dana@example.com${close}`),
  ...["Whitfield, Dana <dana@example.com>", '"lee@example.com" <dana@example.com>', "dana(at work)@example.com"],
  ...["Dana <dana@example.com>; Lee <lee@example.com>", "a@@b;dana@example.com|lee@example.com"],
  ...["['dana@example.com', 'lee@example.com']", "Team: dana@example.com, lee@example.com;", "dana @ example.com"],
  ...["[dana@example.com](mailto:dana@example.com)", "\u202adana@example.com\u202c; lee@example.com"],
  ...["lee@example.com <dana@example.com>; Sam", "dana@example.com, lee@example.com <sam@example.com>"],
  "dana@exam\u00adple.com\u200b",
])("the first address of %j is dana@example.com, with a warning", (cell) => {
  expect(read(cell)).toEqual({ value: "dana@example.com", cut: true });
});

test("a typographic apostrophe belongs to the name", () => {
  expect(read("o’brien@example.com")).toEqual({ value: "o'brien@example.com", cut: true });
});

test.each([
  "dana",
  "@example.com",
  "dana@",
  "a@b@c",
  "@",
  "null",
  "",
  "<>",
  "undisclosed-recipients:;",
  "a@@b",
  "dana\n@example.com",
  "meet me @ noon",
  "Dana W @ example.com",
])("%j has no address", (cell) => {
  expect(read(cell)).toBeNull();
});

test("all addresses of a cell are found, also those that are not kept", () => {
  expect(allEmails("dana@example.com/lee@example.com")).toEqual(["dana@example.com", "lee@example.com"]);
  expect(allEmails("Email: d/w@example.com (was x@e.org)").toSorted()).toEqual(["d/w@example.com", "x@e.org"]);
});

test("a row reports what was shortened and what was dropped", async () => {
  expect(await warningsOf("name,email\nDana,dana@example.com\n")).toEqual([]);
  expect(await warningsOf("name,email\nDana,Dana <dana@example.com>\n")).toEqual(["further email"]);
  expect(await warningsOf("name,email\nDana,a@b@c\n")).toEqual(["email"]);
});

test("email falls back to verified_email, but not the reverse", async () => {
  expect(await leadOf({ verified_email: "v@example.com", email: "" })).toMatchObject({ email: "v@example.com" });
  expect(await leadOf({ verified_email: "", email: "e@example.com" })).toEqual({ email: "e@example.com" });
});
