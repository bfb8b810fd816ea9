/** The recipients of a lead that was undone: known until it is erased. */
import { expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { digestOf } from "../../../src/contract/key.ts";
import { openServedStore } from "../../../src/server/store.ts";
import { anAdmin } from "../../support/admin.ts";

const rows = "id,pixel_id,email\n0190a0b0-0000-7000-8000-000000000001,px,dana@example.com\n";
const ofLead = ["--id", "0190a0b0-0000-7000-8000-000000000001"];

/** A lead that a key was sent before its import was undone. */
async function aLeadThatWasUndone() {
  const admin = anAdmin();
  const { id, key } = (await admin.run("key", "create", "acme", "--json")).json;
  await admin.import(rows);
  const store = openServedStore(admin.file);
  store.sent.note(store.keys.find(digestOf(key))?.number ?? 0, { numbers: [1], newestMs: 1 }, Date.now());
  await store.close();
  expect((await admin.run("import", "undo", "acme", "1")).status).toBe(0);
  return { admin, key: id };
}

test("lead find --id names who received a lead that was undone", async () => {
  const { admin, key } = await aLeadThatWasUndone();
  const { json } = await admin.run("lead", "find", "acme", ...ofLead, "--json");
  expect(json).toMatchObject({ leads: [], received: [{ key }], gaps: [] });
  const { stdout, stderr } = await admin.run("lead", "find", "acme", ...ofLead);
  expect([stdout, stderr]).toEqual([
    expect.stringMatching(/^ {2}received by key without a label/),
    expect.stringContaining("was undone, or lost in a restore"),
  ]);
});

test("an erasure by ID names the recipients of a lead that was undone on its receipt, and forgets them", async () => {
  const { admin, key } = await aLeadThatWasUndone();
  const { json } = await admin.run("lead", "erase", "acme", ...ofLead, "--json");
  expect(json).toMatchObject({ erased: 0, receipt: { received: [{ key }] } });
  await admin.run("lead", "unblock", "acme", ...ofLead);
  await admin.import(rows);
  expect((await admin.run("lead", "find", "acme", ...ofLead, "--json")).json).toMatchObject({ received: [] });
});

test("a lead that was undone after DISCLOSURES was off, and imported again, still has that gap", async () => {
  const admin = anAdmin();
  await admin.run("key", "create", "acme");
  await admin.import(rows);
  await openServedStore(admin.file, false).close();
  await Bun.sleep(2);
  expect((await admin.run("import", "undo", "acme", "1")).status).toBe(0);
  await admin.import(rows);
  const { json } = await admin.run("lead", "find", "acme", ...ofLead, "--json");
  expect(json).toMatchObject({ received: [], gaps: [{ reason: "off" }] });
});

test.each(["undone", "lost in a restore"])(
  "a lead that was %s while the disk was full, and imported again, still has that gap",
  async (how) => {
    const admin = anAdmin();
    await admin.run("key", "create", "acme");
    const backup = `${admin.folder}/backup.db`;
    await admin.run("backup", backup);
    await admin.import(rows);
    // A server that is killed while the disk is full leaves this file.
    writeFileSync(`${admin.file}.gap`, "");
    const leaving = how === "undone" ? ["import", "undo", "acme", "1"] : ["restore", backup, "--yes"];
    expect((await admin.run(...leaving)).status).toBe(0);
    await openServedStore(admin.file).close();
    await Bun.sleep(2);
    await admin.import(rows);
    const { json } = await admin.run("lead", "find", "acme", ...ofLead, "--json");
    expect(json).toMatchObject({ received: [], gaps: [{ reason: "disk" }] });
  },
);
