/** JSON documents that are larger than any record: read piece by piece, whatever is around the list of records. */
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { DocumentReader, type ValueRules } from "../../src/import/parse/json-document.ts";
import { least } from "../support/eventually.ts";
import { readPieces } from "./reading.ts";

/** Text that would end a string or an object if it were read carelessly. */
const tricky = `${String.raw`"}],{[\\"\\\\`}\n\ud83d\ude00é`;
const large = tricky.repeat(20_000);
const aRecord = (n: number) => ({ email: `p${n}@example.com`, notes: large, n });
const records = Array.from({ length: 6 }, (_, n) => aRecord(n));
const emails = records.map(({ email }) => email);

const cut = (text: string, size = 65_536): Buffer[] => {
  const bytes = Buffer.from(text);
  return Array.from({ length: Math.ceil(bytes.length / size) }, (_, n) => bytes.subarray(n * size, (n + 1) * size));
};
const emailsOf = async (text: string) =>
  (await readPieces(cut(text))).rows.map(({ cells, fault }) => fault ?? cells[0]);

describe("all records of a document of many mebibytes are read", () => {
  test.each<[string, unknown]>([
    ["an array", records],
    ["a list before other members", { data: records, has_more: false, page: 1 }],
    ["a list after other members", { object: "list", paging: { next: "?page=2" }, errors: [], results: records }],
    ["a list three names down", { response: { result: { contacts: records } }, status: "ok" }],
    [
      "a list before large lists that are included",
      { data: records, included: records, html: large.repeat(4), ids: [large, large, large] },
    ],
    ["a list after them", { html: large.repeat(4), included: [[records]], errors: records, data: records }],
    ["pages in an array", [{ data: records.slice(0, 3) }, { data: records.slice(3) }]],
    ["lists in an array", [records.slice(0, 3), records.slice(3)]],
  ])("%s, on one line and on many", async (_, document) => {
    expect(await emailsOf(JSON.stringify(document))).toEqual(emails);
    expect(await emailsOf(JSON.stringify(document, null, 2))).toEqual(emails);
  });

  test("documents that follow one another", async () => {
    const text = [records.slice(0, 3), { data: records.slice(3) }].map((page) => JSON.stringify(page)).join("\n");
    expect(await emailsOf(text)).toEqual(emails);
  });

  test("with the line on which each begins", async () => {
    const text = `[\n\n${records.map((record) => JSON.stringify(record)).join(",\n")}\n]\n`;
    expect((await readPieces(cut(text))).rows.map(({ line }) => line)).toEqual([3, 4, 5, 6, 7, 8]);
  });
});

describe("a document is refused, and nothing of it is imported,", () => {
  const one = { email: "dana@example.com" };
  test.each<[string, unknown, string]>([
    ["if a person is before the list", { ...one, data: records }, "is one record that is larger than 1 MiB"],
    ["if a person is after the list", { data: records, ...one }, "is one record that is larger than 1 MiB"],
    ["if it has two lists", { contacts: records, leads: records }, "several lists of records: contacts, leads"],
    ["if its lists are five names down", { a: { b: { c: { d: { data: records } } } } }, "is one record"],
    ["if it is an object for each record", Object.fromEntries(records.map((one) => [one.email, one])), "is one record"],
  ])("%s", async (_, document, says) => {
    await expect(emailsOf(JSON.stringify(document))).rejects.toThrow(says);
  });

  test.each([
    ["cut off in a string", -20],
    ["cut off before its last bracket", -1],
  ])("if it is %s", async (_, end) => {
    const text = JSON.stringify({ data: records }).slice(0, end);
    await expect(emailsOf(text)).rejects.toThrow(
      "The JSON is damaged or ends too early: see the value that begins on line 1",
    );
  });

  test.each(["}", ",", "]", ":"])("if it has a stray %s", async (sign) => {
    await expect(emailsOf(`${JSON.stringify(records)}${sign}{}`)).rejects.toThrow("The JSON is damaged");
  });
});

test("a record that is too large costs no other record of its list", async () => {
  const notes = large.repeat(20);
  const item = { email: "d@example.com", a: { b: { c: { d: { notes, deep: [[notes]] } } } }, more: notes };
  const items = [records[0], item, [notes], notes, records[1]];
  const excess = "it is larger than 1 MiB";
  for (const indent of [0, 1]) {
    expect(await emailsOf(JSON.stringify(items, null, indent))).toEqual([emails[0], excess, excess, excess, emails[1]]);
  }
});

test("a value that is no JSON costs no other record of its list", async () => {
  const text = `[${JSON.stringify(records[0])},{"email":nobody},17,${JSON.stringify(records[1])}]`;
  const none = "it is not a JSON object";
  expect(await emailsOf(text)).toEqual([emails[0], none, none, emails[1]]);
});

/** Reads values as their texts. */
const asTexts: ValueRules = {
  pageOf: () => null,
  rowsOf: (_, text, line) => [{ line, reason: "", source: text }],
};

test("any values that follow one another are read the same, however their text is cut", () => {
  const values = fc.array(fc.tuple(fc.jsonValue(), fc.constantFrom(0, 1), fc.constantFrom(" ", "\n", "\n\n")), {
    maxLength: 6,
  });
  fc.assert(
    fc.property(values, fc.array(fc.nat(400), { maxLength: 8 }), (values, cuts) => {
      const texts = values.map(([value, indent]) => JSON.stringify(value, null, indent));
      const text = texts.map((one, place) => one + (values[place]?.[2] ?? "")).join("");
      const places = [0, ...cuts.filter((place) => place < text.length).toSorted((a, b) => a - b), text.length];
      const reader = new DocumentReader(asTexts);
      const pieces = places.slice(1).map((end, place) => text.slice(places[place], end));
      const rows = [...pieces, ""].flatMap((piece, place) => [...reader.read(piece, place === pieces.length)].flat());
      expect(rows.map(({ source }) => source)).toEqual(texts);
      let line = 1;
      for (const [place, row] of rows.entries()) {
        expect(row.line).toBe(line);
        line += `${texts[place]}${values[place]?.[2]}`.split("\n").length - 1;
      }
    }),
    { numRuns: 250 },
  );
});

test.each<[string, (length: number) => string]>([
  ["records", (n) => `[${`{"a":"${"x".repeat(92)}"},`.repeat(n / 10)}{}]`],
  ["nested lists", (n) => `${"[".repeat(n)}${"]".repeat(n)}`],
  ["nested objects", (n) => `${'{"a":'.repeat(n)}1${"}".repeat(n)}`],
  ["names", (n) => `{${'"a":{},'.repeat(n)}"b":1}`],
  ["one text", (n) => `["${"\\\\".repeat(n)}"]`],
  ["blanks", (n) => `[${"\n ".repeat(n)}]`],
])("the time to read many %s grows with their number", async (_, textOf) => {
  const timeOf = (length: number) => {
    const text = textOf(length);
    const started = process.cpuUsage();
    const reader = new DocumentReader(asTexts);
    try {
      for (let at = 0; at < text.length; at += 4096) for (const _ of reader.read(text.slice(at, at + 4096), false));
      for (const _ of reader.read("", true));
    } catch {
      // A refusal must take linear time as well.
    }
    return process.cpuUsage(started).user / 1000;
  };
  // What takes more than linear time does so each time. Other tests in this process may take some of the time.
  const excess = async () => timeOf(800_000) - 6 * Math.min(timeOf(200_000), timeOf(200_000));
  expect(await least(20, excess)).toBeLessThan(20);
});
