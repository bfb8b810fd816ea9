/** bun admin lead find and lead erase: one person is found, removed with every byte, and kept out. */
import { describe, expect, test } from "bun:test";
import { cpSync } from "node:fs";
import { anAdmin } from "../support/admin.ts";
import { filesWith } from "../support/bytes.ts";

const idOf = (number: number) => `0190a000-0000-7000-8000-00000000000${number}`;
/** Dana has two leads, and the address of Kim ends like hers. */
const everything = `id,identified_at,pixel_id,name,email,verified_email,phone
${idOf(1)},2026-01-01T00:00:01Z,px,Dana Whitfield,Dana.W@Example.com,,15550142111
${idOf(2)},2026-01-02T00:00:01Z,px,Dana Whitfield,home@example.org,dana.w@example.com,
${idOf(3)},2026-01-03T00:00:01Z,px,Robin Vale,robin@example.com,,15550142112
${idOf(4)},2026-01-04T00:00:01Z,px,Kim Ellis,bandana.w@example.com,,1555014211
`;
const danas = ["Dana Whitfield", "Dana.W@Example.com", "home@example.org", "15550142111", "8000-000000000001"];
const erase = ["lead", "erase", "acme"];
const byEmail = ["--email", "dana.w@example.com"];

async function aFile(accounts = ["acme"]) {
  const admin = anAdmin(accounts);
  await admin.import(everything);
  return admin;
}

test.each([
  ["email address in whatever case, in email and verified_email", ["--email", " DANA.w@example.COM "], [2, 1]],
  ["the digits of a phone, however it is written", ["--phone", "+1 (555) 014-2111"], [1]],
  ["the ID of a lead, in whatever case", ["--id", idOf(3).toUpperCase()], [3]],
])("find prints the leads of a person as they are served, newest first, by %s", async (_, asked, numbers) => {
  const admin = await aFile();
  const all = await admin.leads();
  const { status, stdout } = await admin.run("lead", "find", "acme", ...asked, "--json");
  const leads = numbers.map((number) => all[number - 1]);
  expect([status, JSON.parse(stdout)]).toEqual([0, { leads, received: [], gaps: [] }]);
});

test("find reads who is meant from standard input", async () => {
  const admin = await aFile();
  const ended = await admin.give("robin@example.com\n", "lead", "find", "acme", "--email", "-");
  expect(ended).toMatchObject({ status: 0, stdout: `${JSON.stringify((await admin.leads())[2])}\n` });
});

test("finding nobody, or only somebody of another account, is no failure", async () => {
  const admin = await aFile(["acme", "other"]);
  for (const [account, email] of [
    ["acme", "nobody@example.com"],
    ["other", "robin@example.com"],
  ] as const) {
    const { status, stdout } = await admin.run("lead", "find", account, "--email", email, "--json");
    expect([status, JSON.parse(stdout)]).toEqual([0, { leads: [], received: [], gaps: [] }]);
  }
});

test("find says whether the person is blocked, and the other spelling of a phone", async () => {
  const admin = await aFile();
  const find = async (...asked: string[]) => (await admin.run("lead", "find", "acme", ...asked)).stderr;
  const out = "blocks this email address in later imports. To remove the block, use lead unblock.";
  expect(await find("--email", "robin@example.com")).not.toContain(out);
  await admin.run(...erase, "--email", "robin@example.com");
  expect(await find("--email", "Robin@Example.com")).toContain(out);
  await admin.run("lead", "unblock", "acme", "--email", "robin@example.com");
  expect(await find("--email", "robin@example.com")).not.toContain(out);
  const hint = "Phones are compared by digits: try the number with and without its country code";
  expect(await find("--phone", "0049 170 1234567")).toContain(hint);
  expect(await find("--phone", "15550142111")).not.toContain(hint);
});

test.each([
  [[]],
  [["--email", "a@example.com", "--phone", "15550142111"]],
  [["--email", "dana at example"]],
  [["--email", ""]],
  [["--email", "dana@example.com,kim@example.com"]],
  [["--phone", "619-555-0123, 15550142111"]],
  [["--phone", "none"]],
  [["--phone", "-"]],
  [["--id", " "]],
])("requires exactly one identifier, and does not repeat it in the message: %j", async (asked) => {
  const admin = await aFile();
  for (const verb of ["find", "erase", "unblock"]) {
    const { status, stdout, stderr } = await admin.run("lead", verb, "acme", ...asked);
    expect([status, stdout, stderr]).toEqual([2, "", expect.stringMatching(/^[^\n]{20,}\n$/)]);
    expect(stderr).not.toMatch(/dana|15550142111/);
  }
  expect(await admin.leads()).toHaveLength(4);
});

test("erase removes the person alone, with every byte, and gives a receipt with nothing of the person in it", async () => {
  const admin = await aFile();
  const before = await admin.leads();
  const { id: account } = JSON.parse((await admin.run("account", "list", "--json")).stdout)[0];
  const { status, stdout, stderr } = await admin.run(...erase, "--email", "dana.W@example.com", "--json");
  const hash = expect.stringMatching(/^[0-9a-f]{64}$/);
  expect({ status, ...JSON.parse(stdout) }).toEqual({
    status: 0,
    erased: 2,
    people: 1,
    // The address that was given, and the other one that the leads had.
    receipt: {
      erased_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
      account,
      instance: expect.stringMatching(/^ins_\w{12}$/),
      hashes: [hash, hash],
      given: [hash],
      removed: [hash, hash],
      digests: [],
      received: [],
      gaps: [],
      rejects_files: [],
    },
  });
  expect(stderr).toContain("No other lead has the email address");
  expect(`${stdout}${stderr}`.toLowerCase()).not.toMatch(/dana|home@/);
  expect(await admin.leads()).toEqual(before.slice(2));
  expect(filesWith(admin.folder, ...danas)).toEqual([]);
  for (const value of ["robin@example.com", "bandana.w@example.com", "1555014211"])
    expect(filesWith(admin.folder, value)).toEqual(["leadfile.db"]);
});

test("erase by phone leaves other leads with the same email address, and says so", async () => {
  const admin = anAdmin();
  await admin.import("email,phone,pixel_id\na@example.com,15550142111,px\na@example.com,,px\n");
  const { json, stderr } = await admin.run(...erase, "--phone", "15550142111", "--json");
  expect(json["erased"]).toBe(1);
  expect(stderr).toContain("1 other lead contains");
});

test("erase leaves the leads of other accounts, and names the first three that have them", async () => {
  const names = ["acme", "b", "c", "d", "e", "f"];
  const admin = anAdmin(names);
  const file = admin.put("dana.csv", "email,phone,pixel_id\na@example.com,15550142111,px\n");
  for (const account of names) await admin.run("lead", "import", account, file, "--create-pixels");
  const { stderr } = await admin.run(...erase, "--email", "a@example.com");
  expect(stderr).toContain(
    "Other leads of b and c and d and 2 more have the same email address, phone, or ID, and were kept.",
  );
});

test("erase names copies of the file, and deliveries that no import took, that hold the person still", async () => {
  const admin = await aFile();
  const copy = `${admin.file}.before-migration-2`;
  cpSync(admin.file, copy);
  const visit = `{"email":"dana.w@example.com"}\n`;
  const rejected = admin.put("leadfile.db.spool/src_1/rejected/1.ndjson", visit);
  const pending = admin.put("leadfile.db.spool/src_1/2.ndjson", visit);
  const { stderr } = await admin.run(...erase, ...byEmail);
  for (const named of [copy, rejected]) expect(stderr).toContain(named);
  expect(stderr).not.toContain(pending);
});

describe("an erasure", () => {
  test.each([
    ["--email", "dana.w@example.com", "the same email addresses; to block a phone as well, run lead erase --phone.", 1],
    ["--phone", "15550142111", "the same phone or email addresses.", 2],
    ["--id", idOf(1), "the same ID, email addresses or phones.", 2],
  ] as const)("by %s keeps the person out of later imports, and says by what", async (how, whom, by, suppressed) => {
    const admin = await aFile();
    const { stderr } = await admin.run(...erase, how, whom);
    expect(stderr).toContain(` in acme. A later import or restore leaves out leads with ${by}\n`);
    for (const options of [[], ["--on-duplicate", "replace"], ["--dry-run"]]) {
      const again = await admin.import(everything, ...options);
      expect({ status: again.status, ...again.json }).toMatchObject({ status: 0, read: 4, suppressed: 2 });
    }
    const other = `email,phone,pixel_id\nDANA.W@EXAMPLE.COM,,px\nnew@example.com,15550142111,px\n`;
    expect((await admin.import(other)).json).toMatchObject({ read: 2, suppressed, imported: 2 - suppressed });
  });

  test("with --dry-run prints how many leads it would remove", async () => {
    const admin = await aFile();
    const { status, stdout } = await admin.run(...erase, ...byEmail, "--dry-run");
    expect([status, stdout, (await admin.leads()).length]).toEqual([0, "email: 2 leads\n", 4]);
  });

  test("of nobody is no failure, and keeps them out from then on, of its account alone", async () => {
    const admin = anAdmin(["acme", "other"]);
    const { status, json } = await admin.run(...erase, "--email", "robin@example.com", "--json");
    expect([status, json["erased"]]).toEqual([0, 0]);
    expect((await admin.import(everything)).json).toMatchObject({ imported: 3, suppressed: 1 });
    const file = admin.put("all.csv", everything);
    const { json: ofOther } = await admin.run("lead", "import", "other", file, "--create-pixels", "--json");
    expect(ofOther).toMatchObject({ imported: 4, suppressed: 0 });
  });
});

test("the hashes of two accounts, and of two files, differ for the same person", async () => {
  const one = anAdmin(["acme", "other"]);
  const two = anAdmin();
  const hashes = async (admin: typeof one, account: string) => {
    const { json } = await admin.run("lead", "erase", account, "--email", "robin@example.com", "--json");
    return (json["receipt"] as { hashes: string[] }).hashes; // A test above checks the shape.
  };
  const all = [...(await hashes(one, "acme")), ...(await hashes(one, "other")), ...(await hashes(two, "acme"))];
  expect(new Set(all).size).toBe(3);
  expect(await hashes(one, "acme")).toEqual(all.slice(0, 1));
});
