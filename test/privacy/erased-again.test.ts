/** A person who was erased stays out, by whichever address or phone a later row has first. */
import { describe, expect, test } from "bun:test";
import { createHash } from "node:crypto";
import { anAdmin } from "../support/admin.ts";

const before = "email,phone,pixel_id\ndana@example.com,+1 619 555 0123,px\n";
const sha256 = (text: string) => createHash("sha256").update(text).digest("hex");

/** An account from which Dana was erased, by what names her. */
async function afterErasing(...by: readonly string[]) {
  const admin = anAdmin();
  await admin.import(before);
  await admin.give(by.join("\n"), "lead", "erase", "acme", "--list", "-");
  return admin;
}

describe("a row stays out that has an erased person", () => {
  test.each([
    ["second in a list", "email", '"fresh@example.com, Dana@Example.com"'],
    ["second in a list with names", "email", '"Dana W <fresh@example.com>; Dana Wu <dana@example.com>"'],
    ["in a JSON list", "email", '"[""fresh@example.com"",""dana@example.com""]"'],
    ["in another column", "personal_emails,business_email", "fresh@example.com,dana@example.com"],
    ["behind another verified address", "email,verified_email", 'fresh@example.com,"new@example.com;dana@example.com"'],
  ])("by an address that stands %s", async (_, columns, cells) => {
    const admin = await afterErasing("dana@example.com");
    const { json } = await admin.import(`${columns},pixel_id\n${cells},px\n`);
    expect(json).toMatchObject({ imported: 0, suppressed: 1 });
  });

  test.each([
    ["second in a list", "mobile_phone", '"+14155550199, +16195550123"'],
    ["in another column", "mobile_phone,direct_number", "(415) 555-0199,619-555-0123"],
  ])("by a phone that stands %s", async (_, columns, cells) => {
    const admin = await afterErasing("619-555-0123");
    const { json } = await admin.import(`email,${columns},pixel_id\nfresh@example.com,${cells},px\n`);
    expect(json).toMatchObject({ imported: 0, suppressed: 1 });
  });

  test("by an address of which a list gave the SHA-256", async () => {
    const admin = await afterErasing(sha256("dana@example.com"));
    const { json } = await admin.import("email,pixel_id\nfresh@example.com;dana@example.com,px\n");
    expect(json).toMatchObject({ imported: 0, suppressed: 1 });
  });

  test("in NDJSON as in CSV, and in a dry run as in an import", async () => {
    const admin = await afterErasing("dana@example.com");
    const row = JSON.stringify({ pixel_id: "px", emails: ["fresh@example.com", "dana@example.com"] });
    expect((await admin.import(row, "--dry-run")).json).toMatchObject({ imported: 0, suppressed: 1 });
    expect((await admin.import(row)).json).toMatchObject({ imported: 0, suppressed: 1 });
  });
});

test("a row comes in whose further addresses and phones are those of nobody who was erased", async () => {
  const admin = await afterErasing("dana@example.com", "619-555-0123");
  const row = '"fresh@example.com, jordana@example.com",dana@example.com.au,"415-555-0199, 619-555-01234"';
  const { json } = await admin.import(`business_email,personal_emails,phone,pixel_id\n${row},px\n`);
  expect(json).toMatchObject({ imported: 1, suppressed: 0 });
  expect((await admin.leads())[0]).toMatchObject({ email: "dana@example.com.au", phone: "4155550199" });
});
