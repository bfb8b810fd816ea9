/** A phone is one phone, however its international prefix is written. */
import { expect, test } from "bun:test";
import { anAdmin } from "../support/admin.ts";

const spellings = ["0014155550142", "011 1 415 555 0142", "+1 415 555 0142", "415-555-0142", "1 (415) 555.0142"];
const pairs = spellings.flatMap((stored) => spellings.map((given) => [stored, given] as const));

test.each(pairs)("%s is found, erased, and kept out as %s", async (stored, given) => {
  const admin = anAdmin();
  const file = `pixel_id,email,phone\npx,one@example.com,${stored}\n`;
  await admin.import(file);
  expect((await admin.run("lead", "erase", "acme", "--phone", given, "--json")).json).toMatchObject({ erased: 1 });
  const others = spellings.map((phone, n) => `px,other${n}@example.com,${phone}`).join("\n");
  const { json } = await admin.import(`pixel_id,email,phone\n${others}\n`);
  expect(json).toMatchObject({ imported: 0, suppressed: spellings.length });
});

test.each([
  "https://a.example/?p=415-555-0142",
  "https://a.example/?p=%28415%29%20555%2D0142",
  "https://a.example/?q=100%&p=%2B1%20415.555.0142",
  "https://a.example/?p=%252B1415555%2530142",
  "https://a.example/tel/001-415-555-0142/",
  "call 415 · 555 – 0142",
])("a phone is mentioned in %s", async (page) => {
  const admin = anAdmin();
  await admin.import(`pixel_id,email,page_url\npx,one@example.com,"${page}"\n`);
  const { json } = await admin.run("lead", "erase", "acme", "--phone", "415-555-0142", "--mentions", "--json");
  expect(json).toMatchObject({ erased: 1 });
});

test.each([
  "https://a.example/?e=ann%2Bnews%40example.com",
  "https://a.example/?x=50%&e=ANN%2540Example.COM",
  "https://a.example/?to=mailto:ann@example.com?subject=x",
  "https://a.example/?e=ann&#64;example.com",
])("an email address is mentioned in %s", async (page) => {
  const admin = anAdmin();
  await admin.import(`pixel_id,email,page_url\npx,one@example.com,"${page}"\n`);
  const { json } = await admin.run("lead", "erase", "acme", "--email", "ann@example.com", "--mentions", "--json");
  expect(json).toMatchObject({ erased: 1 });
});
