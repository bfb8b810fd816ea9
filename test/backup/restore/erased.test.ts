/** bun admin restore: an erased person stays erased, known by the replaced file or by receipts. */
import { expect, test } from "bun:test";
import { rmSync } from "node:fs";
import { anAdmin } from "../../support/admin.ts";
import { filesWith } from "../../support/folder.ts";
import { aBackup, backUp, erase, header, kept, keyState, printed, rows } from "./a-backup.ts";

test("a person erased after the backup is erased again with every residual byte", async () => {
  const { admin, file } = await aBackup();
  await erase(admin, "D7@example.com");
  const { json } = await admin.run("restore", file, "--json");
  expect(json).toMatchObject({ leads: 19, erased_again: 1 });
  rmSync(file);
  expect(filesWith(admin.folder, "d7@example.com", "1555011007")).toEqual([]);
});

const strange = { erased_at: "2026-01-31T00:00:00Z", account: "acc_x", hashes: [] };

test.each([
  ["a text", "hello", "Line 1 of "],
  ["JSON that is no receipt", `\n${JSON.stringify(strange)}`, "Line 2 of "],
  [
    "a receipt of another instance",
    JSON.stringify({ ...strange, instance: "ins_x", hashes: ["0".repeat(64)] }),
    "another instance: this backup lacks",
  ],
])("nothing is restored with %s in place of receipts, and the message says where", async (_, text, said) => {
  const { admin, file } = await aBackup();
  await admin.import(header + rows(20, 30));
  const { status, stderr } = await admin.run("restore", file, "--receipts", admin.put("receipts", text));
  expect([status, stderr]).toEqual([1, expect.stringMatching(/^[^\n]{20,}\n$/)]);
  expect(stderr).toContain(said);
  expect(await admin.leads()).toHaveLength(30);
});

test("leads older than their account keeps do not come back", async () => {
  const { admin, file } = await aBackup();
  await admin.import("pixel_id,email\npx,new@example.com\n");
  const newer = await backUp(admin, "newer.db");
  await admin.run("retain", "acme", "--days", "30", "--yes");
  const { json, stderr } = await admin.run("restore", newer, "--json", "--yes");
  expect(json).toMatchObject({ leads: 1, erased_again: 0, retained_out: 20 });
  expect(stderr).toContain("Left out: 20 leads older than the retention period of their account.");
  for (const path of [file, newer, `${admin.folder}/${kept(admin)[0]}`]) rmSync(path);
  expect(filesWith(admin.folder, "d7@example.com")).toEqual([]);
});

/** People who share a phone, apart from Eve, and a way to erase Ann by her ID. */
async function aFamily() {
  const admin = anAdmin();
  const ann = "2026-01-31,px,ann@example.com,15550142000\n";
  const others = ["bob", "cleo"].map((name) => ann.replace("ann", name)).join("");
  await admin.import(`${header}${ann}${others}2026-01-31,px,eve@example.com,\n`);
  const [{ id } = { id: "" }] = (await admin.leads()).filter(({ email }) => email === "ann@example.com");
  const eraseAnn = () => admin.run("lead", "erase", "acme", "--id", id);
  const receipts = async () => admin.put("receipts", (await admin.run("receipt", "list", "acme")).stdout);
  return { admin, ann, eraseAnn, receipts };
}

test("a restore of a backup made after an erasure removes nothing from it", async () => {
  const { admin, ann, eraseAnn, receipts } = await aFamily();
  await eraseAnn();
  const file = await backUp(admin);
  expect((await admin.run("backup", "--drill", file)).status).toBe(0);
  const before = await admin.exported();
  for (const options of [[], ["--receipts", await receipts()]]) {
    const { status, json } = await admin.run("restore", file, "--json", ...options);
    expect({ status, ...json }).toMatchObject({ status: 0, leads: 3, erased_again: 0 });
    expect(await admin.exported()).toBe(before);
  }
  expect((await admin.import(header + ann)).json).toMatchObject({ imported: 0, suppressed: 1 });
});

test.each([
  ["by what the replaced file knows", false],
  ["by receipts on an empty machine", true],
])("a newer erasure is repeated %s, and leads that only share a phone stay", async (_, isLost) => {
  const { admin, eraseAnn, receipts } = await aFamily();
  const file = await backUp(admin);
  await eraseAnn();
  const machine = isLost ? anAdmin([]) : admin;
  const options = isLost ? ["--receipts", await receipts()] : [];
  const { json } = await machine.run("restore", file, "--json", ...options);
  expect(json).toMatchObject({ leads: 3, erased_again: 1 });
  const people = (await machine.leads()).map(({ email }) => email);
  expect(people).toEqual(["bob@example.com", "cleo@example.com", "eve@example.com"]);
  // What was derived still keeps out later imports.
  const again = await machine.import("date,pixel_id,phone\n2026-02-01,px,15550142000\n");
  expect(again.json).toMatchObject({ suppressed: 1 });
  // What was applied once is part of the file.
  expect((await machine.run("receipt", "list", "acme")).stdout).not.toBe("");
});

test("what belongs to another account with the name of one in the backup is kept, under its name and ID", async () => {
  const { admin, file } = await aBackup();
  const unknown = "No newer data was found on this machine. Erasures, revocations";
  expect((await admin.run("restore", file)).stderr).not.toContain(unknown);
  const other = anAdmin(["acme"]);
  const { id, key, account } = (await other.run("key", "create", "acme", "--json")).json;
  await other.run("key", "revoke", id);
  const { status, stderr } = await other.run("restore", file, "--yes");
  expect([status, stderr]).toEqual([0, expect.stringContaining(unknown)]);
  expect(await keyState(other, key)).toBe("revoked");
  expect(await printed(other, "account", "list")).toMatchObject([
    { name: "acme" },
    { id: account, name: `acme ${account}` },
  ]);
});
