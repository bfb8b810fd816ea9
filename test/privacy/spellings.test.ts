/** A person is one person, however a phone, an email address, or an ID is written, in a lead, a command, or a digest. */
import { expect, test } from "bun:test";
import { createHash } from "node:crypto";
import { join } from "node:path";
import fc from "fast-check";
import { emailKey, phoneKey } from "../../src/contract/person.ts";
import { openDatabase } from "../../src/db/open.ts";
import { accounts } from "../../src/db/schema.ts";
import { blockStatements, hashOf, listInstances } from "../../src/privacy/suppressions.ts";
import { anAdmin } from "../support/admin.ts";
import { aLead, noonMs } from "../support/builders.ts";
import { anAccount, openTestDatabase } from "../support/database.ts";
import { aFolder } from "../support/folder.ts";
import { erase, onPersons } from "../support/privacy.ts";

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
