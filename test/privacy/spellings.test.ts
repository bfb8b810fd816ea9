/** A person is one person, however a phone, an email address, or an ID is written, in a lead, a command, or a digest. */
import { describe, expect, test } from "bun:test";
import { createHash } from "node:crypto";
import { join } from "node:path";
import fc from "fast-check";
import { emailKey, phoneKey } from "../../src/contract/person.ts";
import { openDatabase } from "../../src/db/open.ts";
import { accounts } from "../../src/db/schema.ts";
import { blockStatements, hashOf, listInstances } from "../../src/privacy/suppressions.ts";
import { anAdmin } from "../support/admin.ts";
import { openAdminStore } from "../support/admin-store.ts";
import { aLead, noonMs } from "../support/builders.ts";
import { filesWith } from "../support/bytes.ts";
import { aFolder } from "../support/folder.ts";
import { anAccount } from "../support/harness.ts";
import { erase } from "../support/privacy.ts";

const sha256 = (text: string) => createHash("sha256").update(text).digest("hex");
const phones = ["0014155550142", "011 1 415 555 0142", "+1 415 555 0142", "415-555-0142", "1 (415) 555.0142"];
const emails = [
  "Jürgen@Müller.example",
  "jürgen@xn--mller-kva.example",
  // With accents apart.
  "jürgen@müller.example".normalize("NFD"),
];
/** Each spelling with the first one: what is the same as that is the same as each other. */
const pairsOf = (kind: string, all: readonly string[]) =>
  all
    .flatMap((stored) => all.map((given) => ({ kind, all, stored, given })))
    .filter(({ stored, given }) => stored === all[0] || given === all[0]);

test.each([...pairsOf("phone", phones), ...pairsOf("email", emails)])(
  "$stored is found, erased, and kept out as $given",
  async ({ kind, all, stored, given }) => {
    const admin = anAdmin();
    const file = (...values: readonly string[]) =>
      `pixel_id,name,${kind}\n${values.map((value, n) => `px,visitor ${n},${value}\n`).join("")}`;
    await admin.import(file(stored));
    expect((await admin.run("lead", "find", "acme", `--${kind}`, given, "--json")).json).toMatchObject({ leads: [{}] });
    const { json, stderr } = await admin.run("lead", "erase", "acme", `--${kind}`, given, "--json");
    expect(json).toMatchObject({ erased: 1, receipt: { hashes: [expect.any(String)] } });
    expect(stderr).toContain("No other lead has the email address");
    if (kind === "email") expect(filesWith(admin.folder, stored)).toEqual([]);
    expect((await admin.import(file(...all))).json).toMatchObject({ imported: 0, suppressed: all.length });
  },
);

test("another country's phone and another domain are others", async () => {
  const admin = anAdmin();
  await admin.run("lead", "erase", "acme", "--phone", "619-555-0123");
  await admin.run("lead", "erase", "acme", "--email", "dana@example.com");
  const rows = "px,26195550123,\npx,619-555-01234,\npx,,jordana@example.com\npx,,dana@example.com.au\n";
  expect((await admin.import(`pixel_id,phone,email\n${rows}`)).json).toMatchObject({ imported: 4, suppressed: 0 });
});

test("an address in its own letters may be named by its SHA-256, and is mentioned by a page that has it in ASCII", async () => {
  const admin = anAdmin();
  await admin.import(
    "pixel_id,email,page_url\npx,dana@müller.example,\npx,,https://a.example/dana@xn--mller-kva.example\n",
  );
  const list = sha256("dana@müller.example");
  const { json, stderr } = await admin.give(list, "lead", "erase", "acme", "--list", "-", "--json");
  expect(json).toMatchObject([{ erased: 1 }]);
  expect(stderr).toContain("1 other lead contains");
  const again = "pixel_id,email\npx,dana@xn--mller-kva.example\n";
  expect((await admin.import(again)).json).toMatchObject({ suppressed: 1 });
});

test("an address that an earlier version blocked in Unicode stays blocked", async () => {
  const admin = anAdmin();
  const database = openDatabase(admin.file);
  const [instance] = listInstances(database);
  const [account] = database.select().from(accounts).all();
  if (instance === undefined || account === undefined) throw new Error("the file is not made yet");
  const hash = hashOf(instance, account.id, { kind: "email", value: "dana@müller.example" });
  const blocks = { hashes: [hash.toString("hex")], digests: [] };
  for (const statement of blockStatements(account.number, instance, blocks, 0, true)) database.run(statement);
  database.$client.close();
  const rows = ["müller", "xn--mller-kva"].map((domain) => `px,dana@${domain}.example\n`).join("");
  expect((await admin.import(`pixel_id,email\n${rows}`)).json).toMatchObject({ suppressed: 2 });
});

const word = fc.stringMatching(/^[a-zA-Z0-9äöüéñ_.+'-]{1,12}$/);
const anEmail = fc.option(
  fc
    .tuple(word, fc.constantFrom("Example.com", "müller.example", "xn--mller-kva.example", "a.b"))
    .map((at) => at.join("@")),
  { nil: null },
);
const aPhone = fc.option(
  fc
    .tuple(fc.constantFrom("", "1", "001", "0111", "00", "011"), fc.stringMatching(/^[2-9]\d{6,11}$/))
    .map((digits) => digits.join("")),
  { nil: null },
);

test("every lead is removed by each email address and phone that it shows", async () => {
  const store = openAdminStore(join(aFolder(), "leadfile.db"));
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
      const account = anAccount(store, { leads: [lead], pixels: [{ id: lead.pixel_id, status: "active" }] });
      expect(await erase(store.database, account, [person], noonMs)).toMatchObject([{ erased: 1 }]);
    }
  });
  await fc.assert(property, { numRuns: 30 });
  store.close();
});

/** An account from which Dana was erased, by what names her. */
async function afterErasing(by: string) {
  const admin = anAdmin();
  await admin.import("email,phone,pixel_id\ndana@example.com,+1 619 555 0123,px\n");
  await admin.give(by, "lead", "erase", "acme", "--list", "-");
  return admin;
}

describe("a row of an erased person is suppressed", () => {
  const address = "dana@example.com";
  test.each([
    ["an address second in a list", address, "email", '"fresh@example.com, Dana@Example.com"'],
    ["an address second in a list with names", address, "email", '"D W <fresh@example.com>; Dana <dana@example.com>"'],
    ["an address in a JSON list", address, "email", '"[""fresh@example.com"",""dana@example.com""]"'],
    ["an address in another column", address, "personal_emails,business_email", "fresh@example.com,dana@example.com"],
    ["another verified address", address, "email,verified_email", 'fresh@example.com,"n@example.com;dana@example.com"'],
    ["a phone second in a list", "619-555-0123", "mobile_phone", '"+14155550199, +16195550123"'],
    ["a phone in another column", "619-555-0123", "mobile_phone,direct_number", "(415) 555-0199,619-555-0123"],
    ["an address whose SHA-256 a list gave", sha256(address), "email", "fresh@example.com;dana@example.com"],
  ])("by %s", async (_, by, columns, cells) => {
    const admin = await afterErasing(by);
    expect((await admin.import(`${columns},pixel_id\n${cells},px\n`)).json).toMatchObject({
      imported: 0,
      suppressed: 1,
    });
  });

  test("in NDJSON as in CSV, and in a dry run as in an import", async () => {
    const admin = await afterErasing(address);
    const row = JSON.stringify({ pixel_id: "px", emails: ["fresh@example.com", "dana@example.com"] });
    expect((await admin.import(row, "--dry-run")).json).toMatchObject({ imported: 0, suppressed: 1 });
    expect((await admin.import(row)).json).toMatchObject({ imported: 0, suppressed: 1 });
  });
});

test("a row is imported whose further addresses and phones are those of nobody who was erased", async () => {
  const admin = await afterErasing("dana@example.com\n619-555-0123");
  const row = '"fresh@example.com, jordana@example.com",dana@example.com.au,"415-555-0199, 619-555-01234"';
  const { json } = await admin.import(`business_email,personal_emails,phone,pixel_id\n${row},px\n`);
  expect(json).toMatchObject({ imported: 1, suppressed: 0 });
  expect((await admin.leads())[0]).toMatchObject({ email: "dana@example.com.au", phone: "4155550199" });
});
