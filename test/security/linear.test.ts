/** The time to read a file grows with its size, whatever a stranger puts into its names and cells. */
import { expect, test } from "bun:test";
import { questionsIn } from "../../src/import/map/questions.ts";
import type { Row } from "../../src/import/row.ts";
import { leadsOf, ordinaryRules, readRows } from "../import/reading.ts";
import { noonMs } from "../support/builders.ts";

const many = <Item>(count: number, item: (n: number) => Item): Item[] =>
  Array.from({ length: count }, (_, n) => item(n));
const hostile = [
  "page visits ",
  "visitor",
  "lead ",
  "contact email ",
  "a.",
  "[0]",
  "É",
  "last seen at ",
  "@",
  "' ",
  "1-",
];

/** The time of the processor that a function takes, the least of some attempts: others use the machine as well. */
async function costOf(work: () => Promise<unknown>): Promise<number> {
  const costs: number[] = [];
  for (let attempt = 0; attempt < 6; attempt++) {
    const begun = process.cpuUsage();
    await work();
    costs.push(process.cpuUsage(begun).user);
  }
  return Math.min(...costs);
}

/** Texts whose size is a multiple of a number. */
const shapes: readonly (readonly [what: string, size: number, text: (piece: string, size: number) => string])[] = [
  ["a header", 3000, (piece, size) => `${piece.repeat(size).replaceAll(/[,"\n]/g, "")},email\n1,d@example.com\n`],
  ["a key", 3000, (piece, size) => `${JSON.stringify({ [piece.repeat(size)]: "x", email: "d@example.com" })}\n`],
  [
    "a cell",
    3000,
    (piece, size) => `email,phone,url,date,name\n${many(5, () => `"${piece.repeat(size)}"`).join(",")}\n`,
  ],
  [
    "columns",
    400,
    (piece, size) => `email,${many(size, (n) => piece + n).join(",")}\nd@example.com${",x".repeat(size)}\n`,
  ],
  ["keys", 450, (piece, size) => `${JSON.stringify(Object.fromEntries(many(size, (n) => [piece + n, "x"])))}\n`],
  [
    "nesting",
    7,
    (piece, size) => {
      const names = many(100, (n) => [`${piece}${n}`, "x"]);
      const inner: unknown = Object.fromEntries(names);
      return `${JSON.stringify(many(size, () => piece).reduce((value, name) => ({ [name]: [value] }), inner))}\n`.repeat(
        10,
      );
    },
  ],
];

test.each(shapes)("four times as much of %s takes less than six times as long", async (_, size, textOf) => {
  for (const piece of hostile) {
    const [once = "", four = ""] = [size, 4 * size].map((count) => textOf(piece, count));
    const base = await costOf(() => leadsOf(once));
    const cost = await costOf(() => leadsOf(four));
    // On a busy machine, some milliseconds more or less say nothing. Times that grow faster are seconds at this size.
    expect([piece, cost < 6 * base + 60_000]).toEqual([piece, true]);
  }
});

test("a name of forty parents takes no time in a header, a key, or a cell of the first rows", async () => {
  const name = "page visits ".repeat(40);
  const begun = performance.now();
  const table = await readRows(`${name},email\n${name},d@example.com\n`);
  const object = await readRows(`${JSON.stringify({ [name]: name, email: "d@example.com" })}\n`);
  const rows = [...table, ...object].filter((row): row is Row => !("reason" in row));
  expect(questionsIn(rows, ordinaryRules, noonMs).time).toBeNull();
  expect(performance.now() - begun).toBeLessThan(500);
});

test("cells of 250 KB are read in linear time", async () => {
  const cell = "page visits 10:1 ".repeat(15_000);
  const begun = process.cpuUsage();
  await leadsOf(`email,phone,date,url,name\n${many(5, () => `"${cell}"`).join(",")}\n`);
  expect(process.cpuUsage(begun).user).toBeLessThan(2_000_000);
});
