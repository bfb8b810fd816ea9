/** A person is one person, however a phone, an email address, or an ID is written, in a lead, a command, or a digest. */
import { expect, test } from "bun:test";
import { createHash } from "node:crypto";
import { join } from "node:path";
import fc from "fast-check";
import type { CountryCode } from "libphonenumber-js";
import { getExampleNumber } from "libphonenumber-js";
import examples from "libphonenumber-js/examples.mobile.json";
import { emailKey, identifierOf, phoneKey } from "../../src/contract/person.ts";
import { openDatabase } from "../../src/db/open.ts";
import { accounts } from "../../src/db/schema.ts";
import { firstPhone } from "../../src/import/map/values/phones.ts";
import { blockStatement, hashOf, listInstances } from "../../src/privacy/suppressions.ts";
import { anAdmin } from "../support/admin.ts";
import { aLead, noonMs } from "../support/builders.ts";
import { anAccount, openTestDatabase } from "../support/database.ts";
import { aFolder } from "../support/folder.ts";
import { erase, onPersons } from "../support/privacy.ts";

const word = fc.stringMatching(/^[a-zA-Z0-9äöüéñ_.+'-]{1,12}$/);
const anEmail = fc.option(
  fc
    .tuple(word, fc.constantFrom("Example.com", "müller.example", "xn--mller-kva.example", "a.b"))
    .map((at) => at.join("@")),
  { nil: null },
);
const aPhone = fc.option(
  fc
    .tuple(
      fc.constantFrom("", "1", "001", "0111", "00", "011", "0", "01", "0011"),
      fc.stringMatching(/^[2-9]\d{6,11}$/),
    )
    .map((digits) => digits.join("")),
  { nil: null },
);

test("every lead is removed by each email address and phone that it shows", async () => {
  const database = openTestDatabase(join(aFolder(), "leadfile.db"));
  const property = fc.asyncProperty(anEmail, anEmail, aPhone, async (first, second, number) => {
    const lead = aLead({ email: first ?? second, verified_email: second, phone: number });
    const addresses = [lead.email, lead.verified_email].flatMap((one) =>
      one === null ? [] : [one, one.toUpperCase()],
    );
    const shown = [
      ...addresses.map((one) => ({ kind: "email", value: emailKey(one) }) as const),
      ...(number === null ? [] : [{ kind: "phone", value: phoneKey(number) } as const]),
    ];
    for (const person of shown) {
      const account = anAccount(database, { leads: [lead], pixels: [{ id: lead.pixel_id, status: "active" }] });
      expect(await erase(database, account, [person], noonMs)).toMatchObject([{ erased: 1 }]);
    }
  });
  await fc.assert(property, { numRuns: 15 });
  database.close();
});

test("a row of an erased person is suppressed, whatever else it has", async () => {
  const admin = anAdmin();
  const byDigest = createHash("sha256").update("kim@example.com").digest("hex");
  await onPersons(admin, "erase", `dana@example.com\n619-555-0123\n${byDigest}`);
  const rows = [
    { email: "fresh@example.com, Dana@Example.com" },
    { email: "D W <fresh@example.com>; Dana <dana@example.com>" },
    { email: '["fresh@example.com","dana@example.com"]' },
    { emails: ["fresh@example.com", "dana@example.com"] },
    { personal_emails: "fresh@example.com", business_email: "dana@example.com" },
    { email: "fresh@example.com", verified_email: "n@example.com;dana@example.com" },
    { mobile_phone: "+14155550199, +16195550123" },
    { mobile_phone: "(415) 555-0199", direct_number: "619-555-0123" },
    { email: "fresh@example.com;kim@example.com" },
  ];
  const file = rows.map((row) => `${JSON.stringify({ pixel_id: "px", ...row })}\n`).join("");
  for (const options of [["--dry-run"], []])
    expect((await admin.import(file, ...options)).json).toMatchObject({ suppressed: rows.length, imported: 0 });
  expect(await admin.leads()).toEqual([]);
});

test("a row is imported whose further addresses and phones are those of nobody who was erased", async () => {
  const admin = anAdmin();
  await onPersons(admin, "erase", "dana@example.com\n619-555-0123");
  const row = '"fresh@example.com, jordana@example.com",dana@example.com.au,"415-555-0199, 619-555-01234"';
  await admin.import(`business_email,personal_emails,phone,pixel_id\n${row},px\n,,26195550123,px\n`);
  expect(await admin.leads()).toMatchObject([
    { email: "dana@example.com.au", phone: "4155550199" },
    { phone: "26195550123" },
  ]);
});

const countries: readonly CountryCode[] = [
  ..."US CA MX BR AR CL CO PE GB IE FR DE AT CH IT ES PT NL BE".split(" "),
  ..."DK SE NO FI PL CZ GR TR RU UA IL AE SA EG ZA NG KE IN PK CN JP KR AU NZ ID TH VN PH SG".split(" "),
].map((code) => code as CountryCode); // Each is in the table of examples, which the next lines prove.

/** A number of a country: its code and its national digits, in groups. */
const aNumber = fc.tuple(fc.constantFrom(...countries), fc.nat(9_999)).map(([country, last]) => {
  const number = getExampleNumber(country, examples);
  if (number === undefined) throw new Error(`no example of ${country}`);
  const digits = number.nationalNumber.slice(0, -4) + String(last).padStart(4, "0");
  return { code: number.countryCallingCode, groups: [digits.slice(0, 3), digits.slice(3, -4), digits.slice(-4)] };
});

const fullWidth = (text: string) =>
  text.replaceAll(/[+0-9]/g, (one) => String.fromCodePoint(one.charCodeAt(0) + 0xfee0));
const arabic = (text: string) => text.replaceAll(/\d/g, (digit) => String.fromCodePoint(0x660 + Number(digit)));

/** The ways to write a number with the code of its country. */
const aSpelling = fc
  .tuple(
    fc.constantFrom("+", "00", "011", "0011", "", "0", "00 ", "011-", "+ "),
    fc.constantFrom("", " ", "-", "."),
    fc.constantFrom<(text: string) => string>(
      (text) => text,
      (text) => encodeURIComponent(text).replaceAll(".", "%2E"),
      (text) => text.replaceAll("+", "%2b"),
      fullWidth,
      arabic,
      (text) => [...text].join("\u200d"),
      (text) => `\u202a${text}\u202c`,
    ),
  )
  .map(([prefix, between, write]) => (code: string, groups: readonly string[]) => {
    return write(`${prefix}${[code, ...groups].join(between)}`);
  });

test("a phone of any country has one form, however it is written", () => {
  const keyOf = (text: string) => identifierOf("phone", firstPhone([text])?.value ?? "").value;
  const isOne = fc.property(aNumber, aSpelling, aSpelling, ({ code, groups }, first, second) => {
    const [one, other] = [first(code, groups), second(code, groups)];
    expect([one, other, keyOf(one)]).toEqual([one, other, keyOf(other)]);
    expect(phoneKey(one)).toBe(phoneKey(other));
    expect(phoneKey(phoneKey(one))).toBe(phoneKey(one));
  });
  fc.assert(isOne, { numRuns: 1_000 });
});

test("two phones that differ in a digit stay two", () => {
  const differ = fc.property(aNumber, aNumber, aSpelling, (one, other, spell) => {
    fc.pre(one.code + one.groups.join("") !== other.code + other.groups.join(""));
    expect(phoneKey(spell(one.code, one.groups))).not.toBe(phoneKey(spell(other.code, other.groups)));
  });
  fc.assert(differ, { numRuns: 1_000 });
});

test("an email address has one form, however its letters are encoded", () => {
  const isOne = fc.property(word, fc.constantFrom("Example.com", "müller.example"), fc.nat(20), (name, domain, at) => {
    const address = `${name}@${domain}`;
    const wide = address.replaceAll(/[!-~]/g, (one) => String.fromCodePoint(one.charCodeAt(0) + 0xfee0));
    const joined = `${address.slice(0, at)}\u200d${address.slice(at)}`;
    const others = [wide, joined, address.normalize("NFD"), address.toUpperCase(), `\ufeff${address}\u2060`];
    expect(others.map(emailKey)).toEqual(others.map(() => emailKey(address)));
    expect(emailKey(emailKey(wide))).toBe(emailKey(wide));
  });
  fc.assert(isOne, { numRuns: 500 });
});

/** One spelling of a phone and of an address after another, of which each is erased, blocked, and found by every other. */
const phones = [
  "0044 161 496 0000",
  "+44 (0)161 496 0000",
  "441614960000",
  "%2B441614960000",
  "０１１ 44 161 496 0000",
];
const usPhones = ["0014155550142", "011 1 415 555 0142", "+1 415 555 0142", "415-555-0142", "1 (415) 555.0142"];
const addresses = ["dana@example.com", "DANA@EXAMPLE.COM", "ｄａｎａ@ｅｘａｍｐｌｅ.com", "da\u200dna@example.com"];

test.each([
  ["phone", phones],
  ["phone", usPhones],
  ["email", addresses],
  ["email", ["Jürgen@Müller.example", "jürgen@xn--mller-kva.example", "jürgen@müller.example".normalize("NFD")]],
])("a person is found, erased, and kept out by each spelling of one %s", async (kind, spellings) => {
  for (const [place, spelling] of spellings.entries()) {
    const admin = anAdmin();
    const rows = spellings.map((one, n) => JSON.stringify({ pixel_id: "px", [kind]: one, page_url: `/${place}-${n}` }));
    const file = `${rows.join("\n")}\n`;
    expect((await admin.import(file)).json).toMatchObject({ imported: spellings.length });
    const { leads } = (await onPersons(admin, "find", [`--${kind}`, spelling])).json;
    expect([spelling, leads]).toEqual([spelling, expect.objectContaining({ length: spellings.length })]);
    expect((await onPersons(admin, "erase", [`--${kind}`, spelling])).json).toMatchObject({ erased: spellings.length });
    const again = file.replaceAll("/", "/again");
    expect((await admin.import(again)).json).toMatchObject({ imported: 0, suppressed: spellings.length });
    expect((await onPersons(admin, "unblock", [`--${kind}`, spellings.at(-1) ?? ""])).json).toMatchObject({
      unblocked: 1,
    });
    expect((await admin.import(file)).json).toMatchObject({ imported: spellings.length, suppressed: 0 });
  }
});

test("an identifier that an earlier version blocked stays blocked in the spelling of that time", async () => {
  const admin = anAdmin();
  const database = openDatabase(admin.file);
  const [instance] = listInstances(database);
  const [account] = database.select().from(accounts).all();
  if (instance === undefined || account === undefined) throw new Error("the file is not made yet");
  const before = [
    { kind: "email", value: "ｄana@example.com" },
    { kind: "email", value: "da\u200dna@müller.example" },
    { kind: "phone", value: "016195550142" },
    { kind: "phone", value: "01614960000" },
  ] as const;
  const hashes = before.map((one) => hashOf(instance, account.id, one).toString("hex"));
  database.run(blockStatement(account.number, instance, { hashes, digests: [] }, 0, true));
  database.$client.close();
  const rows = ["ｄana@example.com,", "da\u200dna@xn--mller-kva.example,", ",01 619 555 0142", ",0161 496 0000"];
  const file = `pixel_id,email,phone\n${rows.map((row) => `px,${row}\n`).join("")}`;
  expect((await admin.import(file)).json).toMatchObject({ suppressed: rows.length, imported: 0 });
  const named = [
    ["--email", "ｄana@example.com"],
    ["--phone", "01 619 555 0142"],
  ];
  for (const by of named) expect((await onPersons(admin, "unblock", by)).json).toMatchObject({ unblocked: 1 });
  expect((await admin.import(file)).json).toMatchObject({ suppressed: 2, imported: 2 });
});

test("the ID of an erased lead is suppressed, whatever its values, until what was given is unblocked", async () => {
  const admin = anAdmin();
  const id = "0190aaaa-0000-7000-8000-00000000000a";
  await admin.import(`${JSON.stringify({ id, pixel_id: "px", email: "dana@example.com", phone: "6195550142" })}\n`);
  expect((await onPersons(admin, "erase", ["--phone", "619-555-0142"])).json).toMatchObject({ erased: 1 });
  const other = `${JSON.stringify({ id, pixel_id: "px", email: "other@example.com" })}\n`;
  for (const options of [[], ["--on-duplicate", "replace"], ["--dry-run"]])
    expect((await admin.import(other, ...options)).json).toMatchObject({ suppressed: 1, imported: 0 });
  // The address was not given, so that it lifts its own block alone.
  expect((await onPersons(admin, "unblock", ["--email", "dana@example.com"])).json).toMatchObject({ unblocked: 1 });
  expect((await admin.import(other)).json).toMatchObject({ suppressed: 1 });
  expect((await onPersons(admin, "unblock", ["--phone", "1 619 555 0142"])).json).toMatchObject({ unblocked: 1 });
  expect((await admin.import(other)).json).toMatchObject({ suppressed: 0, imported: 1 });
});

test("an ID that two erasures removed stays blocked until both are lifted", async () => {
  const admin = anAdmin();
  const row = {
    id: "0190aaaa-0000-7000-8000-00000000000b",
    pixel_id: "px",
    email: "dana@example.com",
    phone: "6195550142",
  };
  const file = `${JSON.stringify(row)}\n`;
  const lift = (...named: string[]) => onPersons(admin, "unblock", named);
  await admin.import(file);
  await onPersons(admin, "erase", ["--email", row.email]);
  await lift("--email", row.email);
  await admin.import(file);
  await onPersons(admin, "erase", ["--phone", row.phone]);
  const other = `${JSON.stringify({ ...row, email: "other@example.com", phone: null })}\n`;
  await lift("--email", row.email);
  expect((await admin.import(other)).json).toMatchObject({ suppressed: 1 });
  await lift("--phone", row.phone);
  expect((await admin.import(other)).json).toMatchObject({ suppressed: 0, imported: 1 });
});
