/** The time to read any input grows with its size, whatever names, values, and structure it has. */
import { expect, test } from "bun:test";
import { leadsOf } from "./reading.ts";

const cellIn = (name: string, cell: string) => `pixel_id,email,${name}\npx,d@example.com,"${cell}"\n`;
const keyIn = (key: string) => `${JSON.stringify({ email: "d@example.com", [key]: "x" })}\n`;
const times = (n: number, unit: string) => unit.repeat(Math.ceil(n / unit.length));

const columns =
  "name first_name phone email city state page_url identified_at referrer company id age_range notes".split(" ");
const values = [
  "x",
  "a ",
  "1 ",
  "@",
  "a@b.c ",
  "a@b.c, ",
  "+1 415 555 0142; ",
  "/x, ",
  "https://x ",
  "(",
  "[",
  "2026-01-31 ",
  "<a> ",
];
const names = ["page visits ", "visitor_", "a", "last seen at ", "éß", "company.", "(UTC) ", "_", "Data "];

/** Inputs of about a length, by what they have much of. */
const inputs: readonly [string, (length: number) => string][] = [
  ...columns.flatMap((column) =>
    values.map((value): [string, (n: number) => string] => [
      `a ${column} of ${JSON.stringify(value)}`,
      (n) => cellIn(column, times(n, value)),
    ]),
  ),
  ...names.flatMap((name): [string, (n: number) => string][] => [
    [`a header of ${JSON.stringify(name)}`, (n) => cellIn(times(n, name), "x")],
    [`a key of ${JSON.stringify(name)}`, (n) => keyIn(times(n, name))],
  ]),
  ["columns", (n) => `email,${times(n / 60, "Column of a vendor,")}x\nd@example.com\n`],
  [
    "objects in objects",
    (n) => `{"email":"d@example.com","a":${times(n, '{"visitor":')}1${"}".repeat(Math.ceil(n / 11))}}\n`,
  ],
  ["lists in lists", (n) => `{"email":"d@example.com","visits":${"[".repeat(n / 2)}${"]".repeat(n / 2)}}\n`],
  ["people in a list", (n) => `{"email":"d@example.com","contacts":[${times(n, '{"email":"a@example.com"},')}{}]}\n`],
  [
    "names in an object",
    (n) => `{${Array.from({ length: n / 12 }, (_, k) => `"name ${k}":1,`).join("")}"email":"d@example.com"}\n`,
  ],
  ["open quotes", (n) => `email,notes\n${times(n, '"open,\n')}`],
  ["stray quotes", (n) => `email,notes\n${times(n, '"a"b",')}\n`],
  ["empty rows", (n) => `email,notes\n${times(n, ",\n")}`],
  ["rows of JSON", (n) => times(n, '{"email":"d@example.com","visit":{"url":"/x"}}\n')],
];

const small = 15_000;

async function timeOf(text: string): Promise<number> {
  const started = process.cpuUsage();
  await leadsOf(text).catch(() => []);
  return process.cpuUsage(started).user / 1000;
}

/** The least of three times, which others on the machine have disturbed least. */
async function fastest(text: string): Promise<number> {
  return Math.min(await timeOf(text), await timeOf(text), await timeOf(text));
}

/** The compiler and the collection of garbage take some milliseconds more. */
async function isLinear(inputOf: (length: number) => string): Promise<boolean> {
  return (await fastest(inputOf(4 * small))) < 6 * (await fastest(inputOf(small))) + 20;
}

test.each(inputs)("%s: four times the input takes less than six times the time", async (_, inputOf) => {
  await timeOf(inputOf(small));
  // What takes more than linear time does so each time.
  expect((await isLinear(inputOf)) || (await isLinear(inputOf)) || (await isLinear(inputOf))).toBe(true);
});
