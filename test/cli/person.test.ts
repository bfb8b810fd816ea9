/** bun admin lead find and erase: what is held on a person, and how it goes for good. */
import { describe, expect, test } from "bun:test";
import { cpSync } from "node:fs";
import { anAdmin } from "../admin.ts";
import { filesWith } from "../bytes.ts";

const header = "id,identified_at,pixel_id,name,email,verified_email,phone\n";
const rows = [
  "0190a000-0000-7000-8000-000000000001,2026-01-01T00:00:01Z,px,Dana Whitfield,Dana.W@Example.com,,15550142111",
  "0190a000-0000-7000-8000-000000000002,2026-01-02T00:00:01Z,px,Dana Whitfield,home@example.org,dana.w@example.com,",
  "0190a000-0000-7000-8000-000000000003,2026-01-03T00:00:01Z,px,Robin Vale,robin@example.com,,15550142112",
  "0190a000-0000-7000-8000-000000000004,2026-01-04T00:00:01Z,px,Kim Ellis,bandana.w@example.com,,1555014211",
];
const everything = `${header}${rows.join("\n")}\n`;
const danas = ["Dana Whitfield", "Dana.W@Example.com", "home@example.org", "15550142111", "8000-000000000001"];

async function aFile(accounts = ["acme"]) {
  const admin = anAdmin(accounts);
  await admin.import(everything);
  return admin;
}

describe("find prints every lead of a person as it is served, newest first,", () => {
  test.each([
    ["by e-mail address in whatever case, in email and verified_email", ["--email", " DANA.w@example.COM "], [2, 1]],
    ["by the digits of a phone, however it is written", ["--phone", "+1 (555) 014-2111"], [1]],
    ["by the id of a lead, in whatever case", ["--id", "0190A000-0000-7000-8000-000000000003"], [3]],
  ])("%s", async (_, asked, numbers) => {
    const admin = await aFile();
    const all = await admin.leads();
    const ended = await admin.run("lead", "find", "acme", ...asked, "--json");
    expect(JSON.parse(ended.stdout)).toEqual({ leads: numbers.map((number) => all[number - 1]), received: [] });
    expect(ended.status).toBe(0);
  });

  test("by an id of the source that is no UUID", async () => {
    const admin = anAdmin();
    await admin.import("id,pixel_id,email\nvisit-77,px,robin@example.com\n");
    const { leads } = (await admin.run("lead", "find", "acme", "--id", "visit-77", "--json")).json;
    expect(leads).toEqual(await admin.leads());
  });

  test("and reads who is meant from standard input", async () => {
    const admin = await aFile();
    const ended = await admin.give("robin@example.com\n", "lead", "find", "acme", "--email", "-");
    expect(ended).toMatchObject({ status: 0, stdout: `${JSON.stringify((await admin.leads())[2])}\n` });
  });

  test("and finding nobody, or only somebody of another account, is no failure", async () => {
    const admin = await aFile(["acme", "other"]);
    for (const account of ["acme", "other"]) {
      const email = account === "acme" ? "nobody@example.com" : "robin@example.com";
      const { status, stdout } = await admin.run("lead", "find", account, "--email", email, "--json");
      expect({ status, found: JSON.parse(stdout) }).toEqual({ status: 0, found: { leads: [], received: [] } });
    }
  });
});

test.each([
  [[]],
  [["--email", "a@example.com", "--phone", "15550142111"]],
  [["--email", "dana at example"]],
  [["--email", ""]],
  [["--phone", "none"]],
  [["--id", " "]],
])("a person must be named in one way, and the message does not repeat the name: %j", async (asked) => {
  const admin = await aFile();
  for (const verb of ["find", "erase"]) {
    const { status, stdout, stderr } = await admin.run("lead", verb, "acme", ...asked);
    expect({ status, stdout }).toEqual({ status: 2, stdout: "" });
    expect(stderr).toMatch(/^[^\n]{20,}\n$/);
    expect(stderr).not.toMatch(/dana|15550142111/);
  }
  expect(await admin.leads()).toHaveLength(4);
});

describe("a phone is one number with and without the 1 of the US:", () => {
  const stored = ["16195550123", "6195550123"];
  const pairs = stored.flatMap((held) => ["619-555-0123", "+1 (619) 555-0123"].map((given) => [held, given] as const));
  test.each(pairs)("%s is found, erased and kept out by %s", async (held, given) => {
    const admin = anAdmin();
    const file = (phone: string) =>
      `pixel_id,email,phone\npx,robin@example.com,${phone}\npx,kim@example.com,26195550123\n`;
    await admin.import(file(held));
    const found = await admin.run("lead", "find", "acme", "--phone", given, "--json");
    expect(found.json["leads"]).toEqual((await admin.leads()).filter(({ phone }) => phone === held));
    const erased = await admin.run("lead", "erase", "acme", "--phone", given, "--json");
    expect(erased.json["erased"]).toBe(1);
    for (const again of stored) {
      const row = `pixel_id,email,phone\npx,new@example.com,${again}\n`;
      expect((await admin.import(row)).json).toMatchObject({ suppressed: 1, imported: 0 });
    }
  });
});

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
      // The address that was given, and the other one that the leads had.
      receipt: {
        erased_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
        account,
        instance: expect.stringMatching(/^ins_\w{12}$/),
        hashes: [hash, hash],
        digests: [],
        received: [],
        rejects_files: [],
      },
    });
    expect(stderr).toContain("nothing of it is left");
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

  test.each([
    ["an e-mail address", ["--email", "dana.w@example.com"]],
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

  test("by phone leaves other leads with the same e-mail address, and says so", async () => {
    const admin = anAdmin();
    await admin.import("email,phone,pixel_id\na@example.com,15550142111,px\na@example.com,,px\n");
    const { json, stderr } = await admin.run("lead", "erase", "acme", "--phone", "15550142111", "--json");
    expect(json["erased"]).toBe(1);
    expect(stderr).toContain("Another 1 lead holds");
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
