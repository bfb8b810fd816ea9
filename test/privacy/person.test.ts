/** bun admin lead find: what is held on a person; and how a person is named, to erase as well. */
import { describe, expect, test } from "bun:test";
import { anAdmin } from "../support/admin.ts";
import { aFile } from "./persons.ts";

describe("find prints every lead of a person as it is served, newest first,", () => {
  test.each([
    ["by email address in whatever case, in email and verified_email", ["--email", " DANA.w@example.COM "], [2, 1]],
    ["by the digits of a phone, however it is written", ["--phone", "+1 (555) 014-2111"], [1]],
    ["by the id of a lead, in whatever case", ["--id", "0190A000-0000-7000-8000-000000000003"], [3]],
  ])("%s", async (_, asked, numbers) => {
    const admin = await aFile();
    const all = await admin.leads();
    const ended = await admin.run("lead", "find", "acme", ...asked, "--json");
    expect(JSON.parse(ended.stdout)).toEqual({
      leads: numbers.map((number) => all[number - 1]),
      received: [],
      gaps: [],
    });
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
      expect({ status, found: JSON.parse(stdout) }).toEqual({
        status: 0,
        found: { leads: [], received: [], gaps: [] },
      });
    }
  });
});

test("find says whether an erasure keeps the person out, before and after, and how else a phone may be written", async () => {
  const admin = await aFile();
  const find = async (...asked: string[]) => (await admin.run("lead", "find", "acme", ...asked)).stderr;
  const out = "keeps this email address out of later imports; lead unblock lifts that.";
  expect(await find("--email", "robin@example.com")).not.toContain(out);
  await admin.run("lead", "erase", "acme", "--email", "robin@example.com");
  expect(await find("--email", "Robin@Example.com")).toContain(out);
  await admin.run("lead", "unblock", "acme", "--email", "robin@example.com");
  expect(await find("--email", "robin@example.com")).not.toContain(out);
  const hint = "A phone is compared by its digits alone: try it with its country code";
  expect(await find("--phone", "0049 170 1234567")).toContain(hint);
  expect(await find("--phone", "15550142111")).not.toContain(hint);
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
