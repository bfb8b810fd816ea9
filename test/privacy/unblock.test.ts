/** bun admin lead unblock: a person who was erased may come again, by what is lifted and nothing else. */
import { describe, expect, test } from "bun:test";
import { createHash } from "node:crypto";
import { join } from "node:path";
import { type Admin, anAdmin } from "../support/admin.ts";

const header = "id,date,pixel_id,name,email,verified_email,phone\n";
const dana = `${header}visit-1,2026-01-31,px,Dana,Dana@Example.com,,6195550123\n`;
const sha256 = (text: string) => createHash("sha256").update(text).digest("hex");

async function afterErasing(how: string, whom: string, rows = dana) {
  const admin = anAdmin();
  await admin.import(rows);
  await admin.run("lead", "erase", "acme", how, whom);
  return admin;
}

/** Returns the number of blocks that it lifts. */
const unblock = async (admin: Admin, ...asked: readonly string[]) =>
  (await admin.run("lead", "unblock", "acme", ...asked, "--json")).json["unblocked"];

describe("an unblocked person is imported again", () => {
  test.each([
    ["an email address", "--email", "dana@example.com", ["--email= DANA@example.COM"]],
    ["an ID of the vendor", "--id", "visit-1", ["--id=visit-1", "--email=dana@example.com", "--phone=6195550123"]],
    ["a phone", "--phone", "619-555-0123", ["--phone=+1 (619) 555-0123", "--email=dana@example.com"]],
  ])("by %s, as often as it is erased and unblocked", async (_, how, whom, blocks) => {
    const admin = anAdmin();
    const first = (await admin.import(dana)).json;
    const before = await admin.leads();
    for (const _ of [1, 2]) {
      expect((await admin.run("lead", "erase", "acme", how, whom, "--json")).json).toMatchObject({ erased: 1 });
      for (const block of blocks) {
        expect((await admin.import(dana)).json).toMatchObject({ imported: 0, suppressed: 1 });
        expect(await unblock(admin, block)).toBe(1);
      }
      expect(await admin.leads()).toEqual([]);
      expect((await admin.import(dana)).json).toMatchObject({ imported: 1, suppressed: 0 });
      expect(await admin.leads()).toEqual(before);
    }
    const undone = (await admin.run("import", "undo", "acme", "3", "--json")).json;
    expect([first["import"], undone, await admin.leads()]).toEqual([1, { import: 3, removed: 1 }, []]);
    expect((await admin.import(dana)).json).toMatchObject({ imported: 1, suppressed: 0 });
  });

  test.each([
    ["an email address", "dana@example.com", ["--email", "dana@example.com"]],
    ["a phone, in any of its forms", "+16195550123", ["--phone", "6195550123"]],
  ])("if a list gave the SHA-256 of %s", async (_, text, lifted) => {
    const admin = anAdmin();
    await admin.give(sha256(text), "lead", "erase", "acme", "--list", "-");
    expect((await admin.import(dana)).json).toMatchObject({ suppressed: 1 });
    expect(await unblock(admin, ...lifted)).toBe(1);
    expect((await admin.import(dana)).json).toMatchObject({ imported: 1 });
  });
});

describe("unblock", () => {
  test("lifts one address alone, and says so", async () => {
    const both = `${header}visit-2,2026-01-31,px,Dana,dana@example.com,home@example.org,\n`;
    const admin = await afterErasing("--email", "dana@example.com", both);
    const { stdout, stderr, status } = await admin.give(
      "home@example.org\n",
      "lead",
      "unblock",
      "acme",
      "--email",
      "-",
    );
    expect([status, stdout]).toEqual([0, "1 block is removed by this email address in acme.\n"]);
    expect(stderr).toContain("a lead with another blocked value still stays out");
    expect(stderr).toContain("Import the file again");
    expect((await admin.import(both)).json).toMatchObject({ suppressed: 1 });
    await unblock(admin, "--email", "dana@example.com");
    expect((await admin.import(both)).json).toMatchObject({ imported: 1 });
  });

  test("of somebody who is not blocked succeeds and lifts nothing", async () => {
    const admin = await afterErasing("--email", "dana@example.com");
    await admin.run("account", "create", "other");
    for (const [account, email] of [
      ["acme", "robin@example.com"],
      ["other", "dana@example.com"],
    ] as const) {
      const { status, stdout } = await admin.run("lead", "unblock", account, "--email", email);
      expect([status, stdout]).toEqual([0, `Nobody was blocked by this email address in ${account}.\n`]);
      expect((await admin.run("lead", "unblock", account, "--email", email, "--json")).stdout).toBe(
        '{"unblocked":0}\n',
      );
    }
    expect((await admin.import(dana)).json).toMatchObject({ suppressed: 1 });
  });

  test("is in the audit without personal data", async () => {
    const admin = await afterErasing("--email", "dana@example.com");
    await unblock(admin, "--email", "dana@example.com");
    const [act] = JSON.parse((await admin.run("audit", "list", "--json")).stdout);
    expect(act).toMatchObject({ act: "lead.unblock", detail: { by: "email", unblocked: 1 } });
    expect(JSON.stringify(act)).not.toMatch(/dana/i);
  });
});

describe("a block that was lifted stays lifted", () => {
  test("after a restore of a backup that has it", async () => {
    const admin = await afterErasing("--email", "dana@example.com");
    const backup = join(admin.folder, "copy.db");
    await admin.run("backup", backup);
    await unblock(admin, "--email", "dana@example.com");
    expect(await admin.run("restore", backup, "--yes")).toMatchObject({ status: 0 });
    expect((await admin.import(dana)).json).toMatchObject({ imported: 1, suppressed: 0 });
  });
});
