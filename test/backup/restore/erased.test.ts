/** bun admin restore: an erased person stays erased, known by the replaced file or by receipts. */
import { describe, expect, test } from "bun:test";
import { existsSync, rmSync } from "node:fs";
import { anAdmin } from "../../support/admin.ts";
import { filesWith } from "../../support/bytes.ts";
import { aBackup, backUp, header, kept, rows } from "./a-backup.ts";

describe("a person erased after the backup", () => {
  const asked = ["lead", "erase", "acme", "--email"];

  test("is erased again with every residual byte, and stays blocked", async () => {
    const { admin, file } = await aBackup();
    await admin.run(...asked, "D7@example.com");
    const { json } = await admin.run("restore", file, "--json");
    expect(json).toMatchObject({ leads: 19, erased_again: 1 });
    rmSync(file);
    expect(filesWith(admin.folder, "d7@example.com", "1555011007")).toEqual([]);
    expect((await admin.import(header + rows(7, 8))).json).toMatchObject({ suppressed: 1, imported: 0 });
  });

  test.each([
    ["as it is printed", []],
    ["as --json prints it", ["--json"]],
  ])("is erased again by the receipt, %s, on a new machine", async (_, json) => {
    const { admin, file } = await aBackup();
    const receipts: string[] = [];
    for (const person of ["d7@example.com", "d8@example.com"])
      receipts.push((await admin.run(...asked, person, ...json)).stdout);
    const list = admin.put("receipts.ndjson", receipts.join("\n"));
    const other = anAdmin([]);
    const ended = await other.run("restore", file, "--receipts", list, "--json");
    expect({ status: ended.status, ...ended.json }).toMatchObject({ status: 0, leads: 18, erased_again: 2 });
    expect(ended.stderr).toMatch(
      / on this machine; 2 receipts were applied\. Keys revoked and settings changed since 2/,
    );
    expect(filesWith(other.folder, "d7@example.com", "d8@example.com")).toEqual([]);
    expect((await other.import(header + rows(6, 9))).json).toMatchObject({ suppressed: 2, duplicates: 1 });
  });

  test.each([
    ["on an empty machine", false, []],
    ["over a file of another machine", true, ["acme"]],
  ])("may return %s, and the restore says what to do", async (_, isThere, accounts) => {
    const { admin, file } = await aBackup();
    const other = anAdmin(accounts);
    expect(existsSync(other.file)).toBe(isThere);
    const unknown = "No newer data was found on this machine. Erasures, revocations";
    expect((await other.run("restore", file)).stderr).toContain(unknown);
    expect((await admin.run("restore", file)).stderr).not.toContain(unknown);
  });

  test("is erased again by a receipt that follows one of an unknown account", async () => {
    const { admin, file } = await aBackup();
    await admin.run("account", "create", "later");
    const receipts: string[] = [];
    for (const account of ["later", "acme"])
      receipts.push((await admin.run("lead", "erase", account, "--email", "d7@example.com")).stdout);
    const list = admin.put("receipts.ndjson", receipts.join(""));
    const { json } = await anAdmin([]).run("restore", file, "--receipts", list, "--json");
    expect(json).toMatchObject({ leads: 19, erased_again: 1 });
  });

  test.each([
    ["a text", "hello"],
    ["JSON that is no receipt", '{"erased_at":"2026-01-31T00:00:00Z","account":"acc_x","hashes":[]}'],
    [
      "a receipt of another instance",
      JSON.stringify({
        erased_at: "2026-01-31T00:00:00Z",
        account: "acc_x",
        instance: "ins_x",
        hashes: ["0".repeat(64)],
      }),
    ],
  ])("is not erased by %s, and nothing is restored", async (_, text) => {
    const { admin, file } = await aBackup();
    await admin.import(header + rows(20, 30));
    const { status, stderr } = await admin.run("restore", file, "--receipts", admin.put("receipts", text));
    expect(status).toBe(1);
    expect(stderr).toMatch(/^[^\n]{20,}\n$/);
    expect(await admin.leads()).toHaveLength(30);
  });
});

test("leads older than their account keeps do not come back", async () => {
  const { admin, file } = await aBackup();
  await admin.import("pixel_id,email\npx,new@example.com\n");
  const newer = `${file}.newer`;
  await admin.run("backup", newer);
  await admin.run("retain", "acme", "--days", "30");
  const { json, stderr } = await admin.run("restore", newer, "--json", "--yes");
  expect(json).toMatchObject({ leads: 1, erased_again: 0, retained_out: 20 });
  expect(stderr).toContain("Left out: 20 leads older than the retention period of their account.");
  for (const name of [file, newer]) rmSync(name);
  rmSync(`${admin.folder}/${kept(admin)[0]}`);
  expect(filesWith(admin.folder, "d7@example.com")).toEqual([]);
});

test("a restore of a backup made after an erasure removes nothing from it", async () => {
  const admin = anAdmin();
  const people = ["ann", "bob", "cleo", "dan"].map((name) => `2026-01-31,px,${name}@example.com,15550142000\n`);
  await admin.import(`${header}${people.join("")}2026-01-31,px,eve@example.com,\n`);
  const ann = (await admin.leads()).find(({ email }) => email === "ann@example.com");
  await admin.run("lead", "erase", "acme", "--id", ann?.id ?? "");
  const file = admin.put("copy.db.none", "").replace(".none", "");
  expect((await admin.run("backup", file, "--drill")).status).toBe(0);
  const before = await admin.exported();
  const receipts = admin.put("receipts", (await admin.run("receipt", "list", "acme")).stdout);
  for (const words of [
    ["restore", file],
    ["restore", file, "--receipts", receipts],
  ]) {
    const { status, json } = await admin.run(...words, "--json");
    expect({ status, ...json }).toMatchObject({ status: 0, leads: 4, erased_again: 0 });
    expect(await admin.exported()).toBe(before);
  }
  expect((await admin.import(header + people[0])).json).toMatchObject({ imported: 0, suppressed: 1 });
});

test.each([
  ["by what the replaced file knows", false],
  ["by receipts on an empty machine", true],
])("a newer erasure is repeated %s, and leads that only share a phone stay", async (_, isLost) => {
  const admin = anAdmin();
  const people = ["ann", "bob", "cleo"].map((name) => `2026-01-31,px,${name}@example.com,15550142000\n`);
  await admin.import(header + people.join(""));
  const file = `${admin.file}.backup`;
  await admin.run("backup", file);
  const ann = (await admin.leads()).find(({ email }) => email === "ann@example.com");
  await admin.run("lead", "erase", "acme", "--id", ann?.id ?? "");
  const receipts = admin.put("receipts", (await admin.run("receipt", "list", "acme")).stdout);
  const machine = isLost ? anAdmin([]) : admin;
  const { json } = await machine.run("restore", file, "--json", ...(isLost ? ["--receipts", receipts] : []));
  expect(json).toMatchObject({ leads: 2, erased_again: 1 });
  expect((await machine.leads()).map(({ email }) => email)).toEqual(["bob@example.com", "cleo@example.com"]);
  // What was derived still keeps out later imports.
  expect((await machine.import("date,pixel_id,phone\n2026-02-01,px,15550142000\n")).json).toMatchObject({
    suppressed: 1,
  });
  // What was applied once is part of the file.
  expect((await machine.run("receipt", "list", "acme")).stdout).not.toBe("");
});

test.each([
  ["by the replaced file", false],
  ["by its receipt on an empty machine", true],
])("an account deleted after the backup stays deleted, and its keys stay revoked: known %s", async (_, isLost) => {
  const { admin, file } = await aBackup();
  const { key } = (await admin.run("key", "create", "acme", "--json")).json;
  const newer = `${file}.newer`;
  await admin.run("backup", newer);
  const receipt = (await admin.run("account", "delete", "acme", "--yes")).stdout;
  const machine = isLost ? anAdmin([]) : admin;
  const receipts = isLost ? ["--receipts", admin.put("receipts", receipt)] : [];
  const { status, json, stderr } = await machine.run("restore", newer, "--json", "--yes", ...receipts);
  expect({ status, leads: json["leads"] }).toEqual({ status: 0, leads: 0 });
  expect(stderr).toMatch(/^Left out: 1 account deleted since the backup of .*, with all leads\.$/m);
  expect(JSON.parse((await machine.run("account", "list", "--json")).stdout)).toEqual([]);
  expect((await machine.give(key, "key", "check", "--json")).json["state"]).toBe("revoked");
});

test.each([
  ["the deletion of an account", () => ["account", "delete", "acme", "--yes"]],
  ["the revocation of a key", (key: string) => ["key", "revoke", key, "--yes"]],
])("a restore over a file from before %s does not report it as lost", async (_, end) => {
  const { admin } = await aBackup();
  const { id } = (await admin.run("key", "create", "acme", "--json")).json;
  const other = anAdmin([]);
  await other.run("restore", await backUp(admin, "before.db"));
  expect((await admin.run(...end(id))).status).toBe(0);
  const { json } = await other.run("restore", await backUp(admin, "after.db"), "--json");
  expect(json["lost"]).toEqual({ leads: 0, imports: 0, keys: 0, accounts: 0 });
});

test("what belongs to a new account with the name of a deleted one is kept", async () => {
  const { admin, file } = await aBackup();
  await admin.run("account", "delete", "acme", "--yes");
  await admin.run("account", "create", "acme");
  const { id, key } = (await admin.run("key", "create", "acme", "--json")).json;
  await admin.run("key", "revoke", String(id));
  await admin.import(header + rows(0, 2));
  await admin.run("lead", "erase", "acme", "--email", "d1@example.com");
  const { status, json } = await admin.run("restore", file, "--json", "--yes");
  expect({ status, leads: json["leads"] }).toEqual({ status: 0, leads: 0 });
  expect((await admin.give(key, "key", "check", "--json")).json["state"]).toBe("revoked");
  expect((await admin.import(header + rows(0, 2))).json).toMatchObject({ imported: 1, suppressed: 1 });
});

test("what belongs to another account with the name of one in the backup is kept, under its name and ID", async () => {
  const { file } = await aBackup();
  const other = anAdmin(["acme"]);
  const { id, key, account } = (await other.run("key", "create", "acme", "--json")).json;
  await other.run("key", "revoke", String(id));
  expect((await other.run("restore", file, "--yes")).status).toBe(0);
  expect((await other.give(key, "key", "check", "--json")).json["state"]).toBe("revoked");
  const accounts = JSON.parse((await other.run("account", "list", "--json")).stdout);
  expect(accounts).toMatchObject([{ name: "acme" }, { id: account, name: `acme ${account}` }]);
});

test("a block lifted after the backup stays lifted, also if an older receipt has it", async () => {
  const { admin, file } = await aBackup();
  const receipt = (await admin.run("lead", "erase", "acme", "--email", "d7@example.com")).stdout;
  await Bun.sleep(2);
  await admin.run("lead", "unblock", "acme", "--email", "d7@example.com");
  const receipts = admin.put("receipts", receipt);
  const { json } = await admin.run("restore", file, "--receipts", receipts, "--json");
  expect(json).toMatchObject({ leads: 19, erased_again: 1 });
  expect((await admin.import("date,pixel_id,email\n2026-02-01,px,d7@example.com\n")).json).toMatchObject({
    imported: 1,
  });
});
