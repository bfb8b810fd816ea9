/** Phone numbers in cells: the digits of the first number, with a warning if there are more digits. */
import { expect, test } from "bun:test";
import fc from "fast-check";
import { firstPhone } from "../../src/import/map/values/phones.ts";
import { warningsOf } from "./reading.ts";

const read = (cell: string) => firstPhone(cell);

test.each([
  ["6195550123", "6195550123"],
  ["+1 (619) 555-0123", "16195550123"],
  ["213/555-0123", "2135550123"],
  ["Mobile1: 619-555-0123", "6195550123"],
  ["Mobile1: 555-0123", "5550123"],
  ["#6195550123", "6195550123"],
  ["Fax 6195550123", "6195550123"],
  ["619_555_0123", "6195550123"],
  ["619–555–0123", "6195550123"],
  ["tel:+1-619-555-0123", "16195550123"],
  ["6195550123 (mobile)", "6195550123"],
  ["6195550123.0", "6195550123"],
  ["1.6195550123E+10", "16195550123"],
  ["6.195550123e9", "6195550123"],
  ["1,6195550123E+10", "16195550123"],
  ["+44 20 7946 0123", "442079460123"],
  ["+49 30 901820", "4930901820"],
  ["030/901820", "030901820"],
  ["+44 (0)20 7946 0958", "442079460958"],
  ["+49 (0) 30 / 901820", "4930901820"],
  ["(0)30 901820", "030901820"],
  ["+39 (0)6 6982 1234", "390669821234"],
  ["123-456-7890", "1234567890"],
  ["555-0123", "5550123"],
  ["12345", "12345"],
  ['["+16195550123"]', "16195550123"],
])("%j is %j without a warning", (cell, phone) => {
  expect(read(cell)).toEqual({ value: phone, cut: false });
});

test.each([
  ["+16195550123, +16195550124", "16195550123"],
  ["+16195550123 +16195550124", "16195550123"],
  ["5550123 5550456", "5550123"],
  ["555-0123 555-0456", "5550123"],
  ["5550123/5550456", "5550123"],
  ["5550123, 6195550124", "5550123"],
  ["Home 5550123 Work 5550456", "5550123"],
  ["M: 619 555 0123 F: 619 555 0124", "6195550123"],
  ["+1 619 555 0123 619 555 0124", "16195550123"],
  ["['+16195550123', '+16195550124']", "16195550123"],
  ['["+16195550123","+16195550124"]', "16195550123"],
  ["1.6195550123E+10; 619-555-0124", "16195550123"],
  ["619.555.0123 ext. 4", "6195550123"],
  ["619-555-0123x45", "6195550123"],
  ["619-555-0123 #7", "6195550123"],
  ["555-0123 x45", "5550123"],
  ["tel:+1-619-555-0123;ext=4", "16195550123"],
  ["6195550123/4", "6195550123"],
  ["(421) 310-2345 or 6195550124", "4213102345"],
  ["123-555-0123 (421) 310-2345", "1235550123"],
])("the first number of %j is %j, with a warning", (cell, phone) => {
  expect(read(cell)).toEqual({ value: phone, cut: true });
});

const hidden = ["***-***-0142", "+1 619-555-**42", "(619) •••-0142"];

test.each([
  ...hidden,
  "none",
  "",
  "1.61955E+10",
  "6.19555012E+09",
  "+",
  "N/A",
  "1-800-FLOWERS",
  "61955501236195550124",
])("%j has no number", (cell) => {
  expect(read(cell)).toBeNull();
});

test("a row reports dropped digits", async () => {
  expect(await warningsOf("name,phone\nDana,619-555-0123\n")).toEqual([]);
  expect(await warningsOf('name,phone\nDana,"619-555-0123, 619-555-0124"\n')).toEqual(["further phone"]);
  expect(await warningsOf("name,phone\nDana,1.61955E+10\n")).toEqual(["phone"]);
});

test("of two complete numbers the first is found, whatever separates them", () => {
  const number = fc.integer({ min: 2_000_000_000, max: 9_999_999_999 }).map(String);
  const written = (digits: string) =>
    fc.constantFrom(
      digits,
      digits.replace(/(...)(...)(....)/, "$1-$2-$3"),
      digits.replace(/(...)(...)(....)/, "($1) $2-$3"),
    );
  const between = fc.constantFrom(", ", ",", ";", " / ", "/", " ", " or ", "\n", " | ", " Mobile: ");
  const two = fc
    .tuple(number, number)
    .chain(([one, other]) => fc.tuple(fc.constant(one), written(one), between, written(other)));
  fc.assert(
    fc.property(two, ([digits, one, gap, other]) =>
      expect(read(one + gap + other)).toEqual({ value: digits, cut: true }),
    ),
  );
});

test("reading a long cell of blanks takes linear time", () => {
  const begun = process.cpuUsage();
  expect(read(`415-555-0100${" ".repeat(60_000)}x`)?.value).toBe("4155550100");
  expect(process.cpuUsage(begun).user).toBeLessThan(1_000_000);
});
