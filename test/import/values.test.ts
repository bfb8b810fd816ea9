/** Values out of cells: trimmed, and otherwise kept as they came. */
import { expect, test } from "bun:test";
import fc from "fast-check";
import { firstEmail } from "../../src/import/map/values/emails.ts";
import { firstPhone } from "../../src/import/map/values/phones.ts";
import { firstText } from "../../src/import/row.ts";
import { leadsOf } from "./reading.ts";

const nothing = [
  ...["", " ", "\t", "-", "--", "null", "NULL", "N/A", "n/a", "\\N", "[]", '[""]', "[null]", "\u00a0"],
  // As spreadsheets write a formula that failed.
  ...["#N/A", "#REF!", "#VALUE!", "#NAME?", "#DIV/0!", "#NUM!", "#NULL!", "#ERROR!", '="N/A"', '=""'],
];

test.each([
  ...nothing.map((cell) => [cell, null] as const),
  // As programs hand a text to a spreadsheet.
  ['="00123"', "00123"],
  ['="say ""hi"""', 'say "hi"'],
  [' =" Dana "', "Dana"],
  ['="=""Dana"""', "Dana"],
  ['="[""Dana""]"', "Dana"],
  ['="a"&"b"', '="a"&"b"'],
  ['="open', '="open'],
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
  // Half of a surrogate pair.
  ["a\ud83d", "a\ufffd"],
])("the text of the cell %j is %j", (cell, text) => {
  expect(firstText(cell)).toBe(text);
});

test.each([
  {
    what: "an email address",
    read: firstEmail,
    pieces: ["dana@example.com", "lee@e.org", ..."@a <>()\"',;:./[]\n"],
    form: /^[^\s@<>()"]+@[^\s@<>()"]+$/,
  },
  {
    what: "a phone number",
    read: firstPhone,
    pieces: [..."619 555 0123 +1 44 ext Mobile 1: E+10".split(" "), ..."0 -./,;()x#\n٣"],
    form: /^\d{1,15}$/,
  },
])("whatever is in a cell, $what that is found has its form, and is read as itself", ({ read, pieces, form }) => {
  const some = fc.array(fc.constantFrom(...pieces), { maxLength: 14 }).map((parts) => parts.join(""));
  fc.assert(
    fc.property(fc.oneof(fc.string({ unit: "binary" }), some), (text) => {
      const value = read(text)?.value;
      if (value === undefined) return;
      expect(value).toMatch(form);
      expect(read(value)).toEqual({ value, cut: false });
    }),
    { numRuns: 200 },
  );
});

test.each([
  ["email,identified_at\n,2026-01-31\n"],
  ['id,pixel_id,identified_at,email\nx,px,2026-01-31,"-"\n'],
  ["email\nnot an address\n"],
])("a row that is empty besides id, identified_at, and pixel_id is rejected: %j", async (text) => {
  expect(await leadsOf(text)).toEqual([{ fault: "it has no value except id, identified_at, and pixel_id" }]);
});

test("the rejection of a row with only unknown names suggests --map", async () => {
  const unknown = { fault: expect.stringContaining("pixel_id (--map THEIRS=OURS keeps other columns)") };
  expect(await leadsOf("email,handle\n,dana@example.com\n")).toEqual([unknown]);
  expect(await leadsOf('{"data__email":"dana@example.com"}\n')).toEqual([unknown]);
});

test("the rejection of an empty row does not ask for a pixel", async () => {
  const faults = await leadsOf("email,pixel_id\n,\nd@example.com,\n", { pixelId: null });
  expect(faults).toEqual([{ fault: "it is empty" }, { fault: expect.stringContaining("it has no pixel") }]);
});

test("rows whose ID is a spreadsheet error are separate leads", async () => {
  const leads = await leadsOf("id,email\n#N/A,dana@example.com\n#N/A,lee@example.com\n");
  expect(new Set(leads.map((reading) => "lead" in reading && reading.lead.id)).size).toBe(2);
});

test("rejects a row with a NUL, even in an ignored column", async () => {
  const faults = await leadsOf('email,x\nd@example.com\0,1\nd@example.com,"\0"\n');
  expect(faults).toEqual([{ fault: "it contains a NUL" }, { fault: "it contains a NUL" }]);
  expect(await leadsOf('{"name":"a\\u0000"}\n')).toEqual([{ fault: "it contains a NUL" }]);
});
