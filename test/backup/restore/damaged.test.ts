/** bun admin restore where the file that it replaces is damaged: what can be read is kept, and what is lost is named. */
import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { anAdmin } from "../../support/admin.ts";
import { backUp, erase, header, kept, keyState, rows } from "./a-backup.ts";

/** A file with a backup of itself, after which one of two persons was erased and a key revoked. */
async function aBackup() {
  const admin = anAdmin();
  await admin.import(header + rows(0, 2));
  const { key, id } = (await admin.run("key", "create", "acme", "--json")).json;
  const file = await backUp(admin);
  await erase(admin, "d0@example.com");
  await admin.run("key", "revoke", id);
  return { admin, file, key };
}

/** Overwrites some bytes of a file with noise. */
function overwrite(path: string, from: number, length: number): void {
  writeFileSync(path, readFileSync(path).fill(7, from, from + length));
}

/** Overwrites the first page of a table. */
function damage(path: string, table: string): void {
  const database = new Database(path);
  const [[page] = []] = database.query("SELECT rootpage FROM sqlite_schema WHERE name = ?").values(table);
  const [[size] = []] = database.query("PRAGMA page_size").values();
  database.run("PRAGMA wal_checkpoint(TRUNCATE)");
  database.close(true);
  overwrite(path, (Number(page) - 1) * Number(size), Number(size));
}

const ofKeys = "revoked keys, expiries of keys, the ledger of recipients, recipients of lost leads";

test.each([
  ["the keys", "keys", { leads: 1, erased_again: 1 }, "active", `${ofKeys}\\. `],
  ["the erasures", "suppressions", { leads: 2, erased_again: 0 }, "revoked", "erasures\\. [^\n]*--receipts"],
])("an unreadable page of %s is reported, and everything else holds", async (_, table, counts, state, lost) => {
  const { admin, file, key } = await aBackup();
  damage(admin.file, table);
  const { status, json, stderr } = await admin.run("restore", file, "--json");
  expect({ status, ...json }).toMatchObject({ status: 0, ...counts });
  expect(stderr).toMatch(new RegExp(`^Warning: [^\n]*: ${lost}[^\n]*\n`, "m"));
  expect(await keyState(admin, key)).toBe(state);
});

test.each([
  ["is no database any more", 0],
  ["has a head that SQLite does not know", 40],
])("a file that %s is replaced and kept, and everything that is lost is named", async (_, from) => {
  const { admin, file } = await aBackup();
  overwrite(admin.file, from, 400);
  const { status, json, stderr } = await admin.run("restore", file, "--json");
  expect({ status, ...json }).toMatchObject({ status: 0, leads: 2 });
  expect(stderr).toMatch(/^Warning: [^\n]*revoked keys[^\n]*erasures[^\n]*\n/m);
  const bytes = readFileSync(join(admin.folder, kept(admin)[0] ?? ""));
  expect(bytes.subarray(from, from + 400)).toEqual(Buffer.alloc(400, 7));
});

test("an undamaged replaced file gives no warning", async () => {
  const { admin, file } = await aBackup();
  expect((await admin.run("restore", file)).stderr).not.toContain("Warning");
});
