/** The time to read any input grows with its size, whatever names, values, and structure it has. */
import { expect, test } from "bun:test";
import { questionsIn } from "../../src/import/map/questions.ts";
import type { Row } from "../../src/import/row.ts";
import { noonMs } from "../support/builders.ts";
import { least } from "../support/eventually.ts";
import { leadsOf, ordinaryRules, readRows } from "./reading.ts";

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
const hostile = ["contact email ", "a.", "[0]", "É", "@", "' ", "1-", "page visits 10:1 "];
const numbered = (n: number, text: (k: number) => string) => Array.from({ length: n }, (_, k) => text(k)).join();

/** Objects with one list each, around an object of many names. */
const nested = (depth: number, name: string) =>
  `${times(depth * (name.length + 6), `{"${name}":[`)}{${numbered(100, (k) => `"${name}${k}":"x"`)}}${"]}".repeat(Math.ceil(depth))}\n`;

/** Inputs of about a length, by what they have much of. */
const inputs: readonly [string, (length: number) => string][] = [
  ...columns.flatMap((column) =>
    values.map((value): [string, (n: number) => string] => [
      `a ${column} of ${JSON.stringify(value)}`,
      (n) => cellIn(column, times(n, value)),
    ]),
  ),
  ...[...names, ...hostile].flatMap((name): [string, (n: number) => string][] => [
    [`a header of ${JSON.stringify(name)}`, (n) => cellIn(times(n, name), "x")],
    [`a key of ${JSON.stringify(name)}`, (n) => keyIn(times(n, name))],
    [`columns that begin with ${JSON.stringify(name)}`, (n) => `email,${numbered(n / 15, (k) => name + k)}\nd@x.org\n`],
    [`names that begin with ${JSON.stringify(name)}`, (n) => `{${numbered(n / 15, (k) => `"${name}${k}":"x"`)}}\n`],
    [`parents of the name ${JSON.stringify(name)}`, (n) => nested(n / 1500, name).repeat(10)],
  ]),
  ...hostile.map((piece): [string, (n: number) => string] => [
    `five cells of ${JSON.stringify(piece)}`,
    (n) => `email,phone,url,date,name\n${numbered(5, () => times(n / 5, piece))}\n`,
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

test.each(inputs)("%s: four times the input takes less than six times the time", async (_, inputOf) => {
  // JIT compilation and garbage collection take some extra milliseconds.
  const excess = async () => {
    const large = await timeOf(inputOf(4 * small));
    return large - 6 * Math.min(await timeOf(inputOf(small)), await timeOf(inputOf(small)));
  };
  // What takes more than linear time does so each time.
  expect(await least(20, excess)).toBeLessThan(20);
});

test("a name with forty parents is parsed in linear time in a header, a key, or a cell of the first rows", async () => {
  const name = "page visits ".repeat(40);
  const begun = process.cpuUsage();
  const table = await readRows(`${name},email\n${name},d@example.com\n`);
  const object = await readRows(`${JSON.stringify({ [name]: name, email: "d@example.com" })}\n`);
  const rows = [...table, ...object].filter((row): row is Row => !("reason" in row));
  expect(questionsIn(rows, ordinaryRules, noonMs).time).toBeNull();
  expect(process.cpuUsage(begun).user).toBeLessThan(500_000);
});
