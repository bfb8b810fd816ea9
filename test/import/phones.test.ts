/** Phone numbers in cells: the digits of the first number, with a warning if there are more digits. */
import { expect, test } from "bun:test";
import fc from "fast-check";
import { allPhones, firstPhone } from "../../src/import/map/values/phones.ts";
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
  ["0049 171 2345678", "00491712345678"],
  ["0044 207 9460958", "00442079460958"],
  ["123-456-7890", "1234567890"],
  ["555-0123", "5550123"],
  ["12345", "12345"],
  ['["+16195550123"]', "16195550123"],
])("%j is %j without a warning", (cell, phone) => {
  expect(read(cell)).toEqual({ value: phone, cut: false });
});

test.each([
  ["Home 5550123 Work 5550456", "5550123"],
  ["M: 619 555 0123 F: 619 555 0124", "6195550123"],
  ["['+16195550123', '+16195550124']", "16195550123"],
  ['["+16195550123","+16195550124"]', "16195550123"],
  ["619.555.0123 ext. 4", "6195550123"],
  ["619-555-0123x45", "6195550123"],
  ["619-555-0123 #7", "6195550123"],
  ["555-0123 x45", "5550123"],
  ["555-0123 (999) 555-0124", "5550123"],
  ["tel:+1-619-555-0123;ext=4", "16195550123"],
  ["6195550123/4", "6195550123"],
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

test("of two numbers the first is found, whatever separates them", () => {
  // A form has a 0 for each digit.
  const forms = "0000000000|000-000-0000|(000) 000-0000|+10000000000|+1 000 000 0000|0000000|000-0000".split("|");
  const number = fc.tuple(fc.constantFrom(...forms), fc.integer({ min: 2_125_550_100, max: 2_125_559_999 }));
  const write = ([form, number]: [string, number]) => {
    const digits = [...String(number)];
    return form.replaceAll("0", () => digits.shift() ?? "");
  };
  const between = fc.constantFrom(", ", ",", ";", " / ", "/", " ", " or ", "\n", " | ", " Mobile: ");
  fc.assert(
    fc.property(number.map(write), between, number.map(write), (one, gap, other) =>
      expect([one, gap, other, read(one + gap + other)]).toEqual([
        one,
        gap,
        other,
        { value: one.replaceAll(/\D/g, ""), cut: true },
      ]),
    ),
    { numRuns: 1000 },
  );
});

test.each([
  ["310 0123 (212) 555 0000", "3100123212"],
  ["12345678 (90)", "1234567890"],
  ["0301234567 (0)", "03012345670"],
])("a person whom an earlier version blocked by the digits that it read in %j is still blocked", (cell, read) => {
  expect(allPhones(cell)).toContain(read);
});
