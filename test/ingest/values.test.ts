/** Values out of cells: trimmed, and otherwise kept as they came. */
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { data as states } from "usps-states";
import { firstEmail, firstPhone, firstText, stateCode, textsOf } from "../../src/ingest/values.ts";
import { leadOf, leadsOf } from "./reading.ts";

const emailOf = (cell: string) => firstEmail(textsOf(cell));
const phoneOf = (cell: string) => firstPhone(textsOf(cell));

describe("texts", () => {
  test.each(["", " ", "\t", "-", "--", "null", "NULL", "N/A", "n/a", "\\N", "[]", '[""]', "[null]", "\u00a0"])(
    "%j says that there is nothing",
    (cell) => {
      expect(firstText(cell)).toBeNull();
    },
  );

  test.each([
    ["  Dana  ", "Dana"],
    ["0", "0"],
    ["false", "false"],
    ["-$2,499 to $2,499", "-$2,499 to $2,499"],
    ["=1+1", "=1+1"],
    ["[sic", "[sic"],
    ["[not json]", "[not json]"],
    ['["", "N/A", "Dana", "Lee"]', "Dana"],
    ["[17]", "17"],
    ['[{"url":"https://shop.example.com/a"},{"url":"/b"}]', "https://shop.example.com/a"],
    ["nullable", "nullable"],
    ["e\u0301", "e\u0301"],
  ])("%j is %j", (cell, text) => {
    expect(firstText(cell)).toBe(text);
  });

  test("half of a letter, which no text can hold, becomes the sign for it", () => {
    expect(firstText("a\ud83d")).toBe("a\ufffd");
  });
});

describe("e-mail addresses", () => {
  test.each([
    ["dana@example.com", "dana@example.com"],
    [" Dana@Example.COM ", "Dana@Example.COM"],
    ["dana@example.com, lee@example.com", "dana@example.com"],
    ["none, dana@example.com", "dana@example.com"],
    ["a@@b;dana@example.com|lee@example.com", "dana@example.com"],
    ['["","lee@example.com"]', "lee@example.com"],
    ['[{"value":"lee@example.com","type":"personal"}]', "lee@example.com"],
    ["Dana Whitfield <dana@example.com>", "dana@example.com"],
    ["d@localhost", "d@localhost"],
    ["['dana@example.com', 'lee@example.com']", "dana@example.com"],
    ["{dana@example.com,lee@example.com}", "dana@example.com"],
  ])("of %j the first valid one is %j", (cell, email) => {
    expect(emailOf(cell)).toBe(email);
  });

  test.each(["dana", "@example.com", "dana@", "a@b@c", "@", "null", ""])("%j holds none", (cell) => {
    expect(emailOf(cell)).toBeNull();
  });

  test("email falls back to verified_email, and never the other way round", async () => {
    expect(await leadOf({ verified_email: "v@example.com", email: "" })).toMatchObject({ email: "v@example.com" });
    expect(await leadOf({ verified_email: "", email: "e@example.com" })).toEqual({ email: "e@example.com" });
  });
});

describe("phones", () => {
  test.each([
    ["+1 (619) 555-0123", "16195550123"],
    ["+16195550123, +16195550124", "16195550123"],
    ["6195550123;6195550124", "6195550123"],
    ["619-555-0123 / 619-555-0124", "6195550123"],
    ["+16195550123 +16195550124", "16195550123"],
    ["6195550123 6195550124", "6195550123"],
    ["619-555-0123/619-555-0124", "6195550123"],
    ["(619) 555-0123 or (619) 555-0124", "6195550123"],
    ["['+16195550123', '+16195550124']", "16195550123"],
    ["619.555.0123 ext. 4", "6195550123"],
    ["619-555-0123x45", "6195550123"],
    ["619-555-0123 #7", "6195550123"],
    ["6195550123.0", "6195550123"],
    ['["+16195550123","+16195550124"]', "16195550123"],
    ["none, 619-555-0123", "6195550123"],
    ["tel:+1-619-555-0123", "16195550123"],
  ])("of %j the digits of the first number are %j", (cell, phone) => {
    expect(phoneOf(cell)).toBe(phone);
  });

  test.each(["none", "", "1.61955E+10", "+", "N/A"])("%j holds none", (cell) => {
    expect(phoneOf(cell)).toBeNull();
  });

  test("whatever is in the cell, there are digits or nothing", () => {
    fc.assert(fc.property(fc.string({ unit: "binary" }), (cell) => expect(phoneOf(cell) ?? "0").toMatch(/^\d+$/)));
  });
});

describe("states", () => {
  test.each(
    states.flatMap(({ name, abbr }) => [name, name.toUpperCase(), abbr, abbr.toLowerCase()].map((n) => [n, abbr])),
  )("%s is %s", (text, code) => {
    expect(stateCode(text)).toBe(code);
  });

  test.each([
    ["D.C.", "DC"],
    ["Washington D.C.", "DC"],
    ["District of Columbia", "DC"],
    ["US-CA", "CA"],
    ["State of New York", "NY"],
    ["Puerto Rico", "PR"],
    ["Guam", "GU"],
    ["AE", "AE"],
    ["Armed Forces the Americas", "AA"],
    ["Armed Forces Middle East", "AE"],
    ["U.S. Virgin Islands", "VI"],
    ["United States Virgin Islands", "VI"],
    ["CNMI", "MP"],
    ["Commonwealth of Virginia", "VA"],
  ])("%s is %s", (text, code) => {
    expect(stateCode(text)).toBe(code);
  });

  test.each(["Ontario", "Bavaria", "XX", "C", "", "California, USA, Earth", "--", "06"])(
    "%j is none of the US",
    (text) => {
      expect(stateCode(text)).toBeNull();
    },
  );

  test("one that is none is left out, and the row is imported with a remark", async () => {
    const [reading] = await leadsOf("email,state\ndana@example.com,Ontario\n");
    expect(reading).toMatchObject({ warnings: ["state"], lead: { state: null } });
  });
});

test.each([
  ["email,phone\n,\n"],
  ['id,pixel_id,identified_at,email\nx,px,2026-01-31,"-"\n'],
  ["email\nnot an address\n"],
])("a row is rejected that is empty beside id, identified_at and pixel_id: %j", async (text) => {
  expect(await leadsOf(text)).toEqual([{ fault: "it is empty beside id, identified_at and pixel_id" }]);
});

test("a row with a NUL is rejected, in a column that is not kept as well", async () => {
  const faults = await leadsOf('email,x\nd@example.com\0,1\nd@example.com,"\0"\n');
  expect(faults).toEqual([{ fault: "it holds a NUL" }, { fault: "it holds a NUL" }]);
  expect(await leadsOf('{"name":"a\\u0000"}\n')).toEqual([{ fault: "it holds a NUL" }]);
});
