/** bun admin lead erase: how a person goes for good, and is kept out. */
import { describe, expect, test } from "bun:test";
import { cpSync } from "node:fs";
import { anAdmin } from "../support/admin.ts";
import { filesWith } from "../support/bytes.ts";
import { aFile, everything } from "./persons.ts";

const danas = ["Dana Whitfield", "Dana.W@Example.com", "home@example.org", "15550142111", "8000-000000000001"];

describe("erase", () => {
  test("removes the person alone, says how many leads, and gives a receipt with nothing of the person in it", async () => {
    const admin = await aFile();
    const before = await admin.leads();
    const { id: account } = JSON.parse((await admin.run("account", "list", "--json")).stdout)[0];
    const { status, stdout, stderr } = await admin.run(
      "lead",
      "erase",
      "acme",
      "--email",
      "dana.W@example.com",
      "--json",
    );
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
    expect(stderr).toContain("No other lead has the address");
    expect(`${stdout}${stderr}`.toLowerCase()).not.toMatch(/dana|home@/);
    expect(await admin.leads()).toEqual(before.slice(2));
  });

  test("leaves not one byte in any file beside the database", async () => {
    const admin = await aFile();
    await admin.run("lead", "erase", "acme", "--email", "dana.w@example.com");
    expect(filesWith(admin.folder, ...danas)).toEqual([]);
    const rest = ["robin@example.com", "bandana.w@example.com", "1555014211"];
    for (const value of rest) expect(filesWith(admin.folder, value)).toEqual(["leadfile.db"]);
  });

  test("by phone leaves other leads with the same email address, and says so", async () => {
    const admin = anAdmin();
    await admin.import("email,phone,pixel_id\na@example.com,15550142111,px\na@example.com,,px\n");
    const { json, stderr } = await admin.run("lead", "erase", "acme", "--phone", "15550142111", "--json");
    expect(json["erased"]).toBe(1);
    expect(stderr).toContain("Another 1 lead holds");
  });

  test("leaves the leads of other accounts, and says which accounts have them", async () => {
    const admin = anAdmin(["acme", "beta", "gamma"]);
    const file = admin.put("dana.csv", "email,phone,pixel_id\na@example.com,15550142111,px\n");
    for (const account of ["acme", "beta"]) await admin.run("lead", "import", account, file, "--create-pixels");
    const { stderr } = await admin.run("lead", "erase", "acme", "--email", "a@example.com");
    expect(stderr).toContain("Other leads of beta have the same address, phone, or ID, and stay.");
  });

  test("names the copies beside the file that hold the person still", async () => {
    const admin = await aFile();
    cpSync(admin.file, `${admin.file}.before-migration-2`);
    const { stderr } = await admin.run("lead", "erase", "acme", "--email", "dana.w@example.com");
    expect(stderr).toContain(`${admin.file}.before-migration-2`);
  });

  test("names deliveries with the person that no import took", async () => {
    const admin = await aFile();
    const visit = `{"email":"dana.w@example.com"}\n`;
    const rejected = admin.put("leadfile.db.spool/src_1/rejected/1.ndjson", visit);
    const waiting = admin.put("leadfile.db.spool/src_1/2.ndjson", visit);
    const { stderr } = await admin.run("lead", "erase", "acme", "--email", "dana.w@example.com");
    expect(stderr).toContain(rejected);
    expect(stderr).not.toContain(waiting);
  });
});

describe("an erasure", () => {
  test.each([
    ["an email address", ["--email", "dana.w@example.com"]],
    ["a phone", ["--phone", "15550142111"]],
    ["an id", ["--id", "0190a000-0000-7000-8000-000000000001"]],
  ])("by %s keeps the person out of later imports, with other ids and in other cases", async (_, asked) => {
    const admin = await aFile();
    await admin.run("lead", "erase", "acme", ...asked);
    for (const options of [[], ["--on-duplicate", "replace"], ["--dry-run"]]) {
      const again = await admin.import(everything, ...options);
      expect({ status: again.status, ...again.json }).toMatchObject({ status: 0, read: 4, suppressed: 2 });
    }
    const other = `email,phone,pixel_id\nDANA.W@EXAMPLE.COM,,px\nnew@example.com,15550142111,px\n`;
    const suppressed = asked[0] === "--email" ? 1 : 2;
    expect((await admin.import(other)).json).toMatchObject({ read: 2, suppressed, imported: 2 - suppressed });
  });

  test("with --dry-run says how many leads would go, and speaks of no list where there is none", async () => {
    const admin = await aFile();
    const { status, stdout } = await admin.run("lead", "erase", "acme", "--email", "dana.w@example.com", "--dry-run");
    expect({ status, stdout }).toEqual({ status: 0, stdout: "email: 2 leads\n" });
  });

  test("of nobody is no failure, and keeps them out from then on", async () => {
    const admin = anAdmin();
    const { status, json } = await admin.run("lead", "erase", "acme", "--email", "robin@example.com", "--json");
    expect({ status, erased: json["erased"] }).toEqual({ status: 0, erased: 0 });
    expect((await admin.import(everything)).json).toMatchObject({ imported: 3, suppressed: 1 });
  });

  test("holds for its account alone", async () => {
    const admin = anAdmin(["other", "acme"]);
    await admin.run("lead", "erase", "other", "--email", "robin@example.com");
    expect((await admin.import(everything)).json).toMatchObject({ imported: 4, suppressed: 0 });
  });
});

test("the hashes of two accounts, and of two files, differ for the same person", async () => {
  const one = anAdmin(["acme", "other"]);
  const two = anAdmin();
  const hashes = async (admin: typeof one, account: string) => {
    const { json } = await admin.run("lead", "erase", account, "--email", "robin@example.com", "--json");
    return (json["receipt"] as { hashes: string[] }).hashes; // The shape that the test above holds.
  };
  const all = [...(await hashes(one, "acme")), ...(await hashes(one, "other")), ...(await hashes(two, "acme"))];
  expect(new Set(all).size).toBe(3);
  expect(await hashes(one, "acme")).toEqual(all.slice(0, 1));
});

test.each([
  ["--email", "dana.w@example.com", "the same email addresses; --phone keeps out a phone as well."],
  ["--phone", "15550142111", "the same phone or email addresses."],
  ["--id", "0190a000-0000-7000-8000-000000000001", "the same ID, email addresses or phones."],
])("erase %s says under what the person is kept out, and nothing beyond that", async (how, whom, by) => {
  const admin = await aFile();
  const { stderr } = await admin.run("lead", "erase", "acme", how, whom);
  expect(stderr).toContain(` in acme. A later import or restore leaves out leads with ${by}\n`);
  const again = `pixel_id,email,phone\npx,new@example.com,15550142111\n`;
  expect((await admin.import(again)).json).toMatchObject(how === "--email" ? { imported: 1 } : { suppressed: 1 });
});

test("erase names few of many accounts with the values of the person, and how many more there are", async () => {
  const admin = anAdmin(["acme", "b", "c", "d", "e", "f"]);
  const file = admin.put("dana.csv", "email,pixel_id\na@example.com,px\n");
  for (const account of ["acme", "b", "c", "d", "e", "f"])
    await admin.run("lead", "import", account, file, "--create-pixels");
  const { stderr } = await admin.run("lead", "erase", "acme", "--email", "a@example.com");
  expect(stderr).toContain("Other leads of b and c and d and 2 more have the same address");
});
