/** bun admin restore where the file that it replaces is damaged: what can be read is kept, and what is lost is named. */
import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { copyFileSync, existsSync, mkdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Admin, anAdmin } from "../../support/admin.ts";
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

/** Restores as at night, without a terminal, and returns what was asked; then with --yes. */
async function restoreAsked(admin: Admin, ...words: readonly string[]) {
  const refused = await admin.run("restore", ...words, "--json");
  expect([refused.status, refused.stdout]).toEqual([1, ""]);
  expect(kept(admin)).toEqual([]);
  const asked = refused.stderr.split("\n").filter((line) => line.startsWith("Nothing was restored"));
  expect(asked).toHaveLength(1);
  const restored = await admin.run("restore", ...words, "--yes", "--json");
  expect(restored.status).toBe(0);
  return { asked: asked[0] ?? "", ...restored };
}

test.each([
  ["the keys", "keys", { leads: 1, erased_again: 1 }, "active", `${ofKeys}\\. `, "the revocations of"],
  [
    "the erasures",
    "suppressions",
    { leads: 2, erased_again: 0 },
    "revoked",
    "erasures\\. [^\n]*--receipts",
    "the erasures of",
  ],
])(
  "an unreadable page of %s is asked about, and everything else holds",
  async (_, table, counts, state, lost, what) => {
    const { admin, file, key } = await aBackup();
    damage(admin.file, table);
    const { asked, json, stderr } = await restoreAsked(admin, file);
    expect(asked).toContain(`${what} ${admin.file} cannot be read`);
    expect(asked).toMatch(/--receipts FILE\. .*--yes.*key revoke/);
    expect(json).toMatchObject(counts);
    expect(json["lost"]).toMatchObject(table === "keys" ? { keys: null, leads: 0 } : { keys: 0, leads: 0 });
    expect(stderr).toMatch(new RegExp(`^Warning: [^\n]*: ${lost}[^\n]*\n`, "m"));
    expect(await keyState(admin, key)).toBe(state);
  },
);

test.each<[string, (path: string) => void]>([
  ["is no database any more", (path) => overwrite(path, 0, 400)],
  ["is empty", (path) => truncateSync(path, 0)],
  ["was cut off", (path) => truncateSync(path, 5_000)],
])("a file that %s is asked about, and what is lost is unknown", async (_, spoil) => {
  const { admin, file, key } = await aBackup();
  for (const suffix of ["-wal", "-shm"]) rmSync(admin.file + suffix, { force: true });
  spoil(admin.file);
  const bytes = readFileSync(admin.file);
  const { asked, json } = await restoreAsked(admin, file);
  expect(asked).toContain(`the erasures and revocations of ${admin.file} cannot be read`);
  expect(json).toMatchObject({ leads: 2, lost: { leads: null, imports: null, keys: null, accounts: null } });
  expect(await keyState(admin, key)).toBe("active");
  expect(readFileSync(join(admin.folder, kept(admin)[0] ?? ""))).toEqual(bytes);
});

test("receipts answer for the erasures of a damaged file, but not for its revocations", async () => {
  const { admin, file } = await aBackup();
  const receipts = admin.put("receipts", (await admin.run("receipt", "list", "acme")).stdout);
  damage(admin.file, "suppressions");
  expect(await admin.run("restore", file, "--receipts", receipts, "--json")).toMatchObject({
    status: 0,
    json: { leads: 1, erased_again: 1 },
  });
  const other = await aBackup();
  const theirs = other.admin.put("receipts", (await other.admin.run("receipt", "list", "acme")).stdout);
  overwrite(other.admin.file, 0, 400);
  const { asked, json } = await restoreAsked(other.admin, other.file, "--receipts", theirs);
  expect(asked).toContain(`: the revocations of ${other.admin.file} cannot be read`);
  expect(json).toMatchObject({ leads: 1, erased_again: 1 });
});

test("where no file is, what is lost is unknown, and nothing is asked", async () => {
  const { admin, file } = await aBackup();
  for (const suffix of ["", "-wal", "-shm"]) rmSync(admin.file + suffix, { force: true });
  const lost = { leads: null, imports: null, keys: null, accounts: null };
  for (const options of [["--dry-run"], []])
    expect(await admin.run("restore", file, "--json", ...options)).toMatchObject({
      status: 0,
      json: { leads: 2, lost },
    });
});

test.each<[string, (file: string) => void, reason: string]>([
  ["was cut off", (file) => truncateSync(file, 5_000), "bytes, but its manifest says"],
  ["has a flipped bit", (file) => overwrite(file, 50_000, 1), "differs from its manifest in the SHA-256"],
  ["has another manifest", (file) => writeFileSync(`${file}.manifest.json`, "{}"), "manifest"],
  ["has no manifest", (file) => rmSync(`${file}.manifest.json`), "manifest"],
])("a newer backup in the same place that %s is asked about, and named with the reason", async (_, spoil, reason) => {
  const { admin, file: older } = await aBackup();
  const place = join(admin.folder, "place");
  mkdirSync(place);
  const names = ["leadfile-20260101T000000Z.db", "leadfile-20990101T000000Z.db"] as const;
  const newer = join(place, names[1]);
  for (const suffix of ["", ".manifest.json"]) copyFileSync(older + suffix, join(place, names[0]) + suffix);
  expect((await anAdmin([], { DATABASE_PATH: admin.file }).run("backup", newer)).status).toBe(0);
  spoil(newer);
  for (const suffix of ["", "-wal", "-shm"]) rmSync(admin.file + suffix, { force: true });
  const refused = await admin.run("restore", join(place, names[0]), "--json");
  expect([refused.status, existsSync(admin.file)]).toEqual([1, false]);
  expect(refused.stderr).toContain(`the erasures and revocations of ${newer} cannot be read`);
  const { status, stderr } = await admin.run("restore", join(place, names[0]), "--yes");
  expect(status).toBe(0);
  expect(stderr).toMatch(new RegExp(`^Warning: The backup ${newer} cannot be read: [^\n]*${reason}`, "m"));
});

test("an undamaged replaced file gives no warning", async () => {
  const { admin, file } = await aBackup();
  expect((await admin.run("restore", file)).stderr).not.toContain("Warning");
});
