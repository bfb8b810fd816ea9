/** bun admin restore refuses what is no whole backup, and leaves the data as it was. */
import { Database } from "bun:sqlite";
import { describe, expect, test } from "bun:test";
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { anAdmin } from "../../support/admin.ts";
import { aBackup, fitManifest, flip } from "./a-backup.ts";

/** Changes an SQLite file. */
function change(file: string, statement: string): void {
  const database = new Database(file);
  database.run(statement);
  database.close();
}

describe("rejects in one line and changes nothing:", () => {
  const manifest = (file: string) => `${file}.manifest.json`;
  const moreLeads = (file: string) => {
    const { counts } = JSON.parse(readFileSync(manifest(file), "utf8"));
    return { counts: { ...counts, leads: 21 } };
  };
  test.each<[name: string, fits: boolean, spoil: (file: string) => unknown]>([
    ["a missing file", false, (file) => rmSync(file)],
    ["one without its manifest", false, (file) => rmSync(manifest(file))],
    ["one with a manifest that is none", false, (file) => writeFileSync(manifest(file), '{"sha256":1}')],
    ["one whose manifest has an invalid time", false, (file) => fitManifest(file, { made_at: "2026-13-45" })],
    ["one with fewer leads than its manifest says", false, (file) => fitManifest(file, moreLeads(file))],
    ["a file that was cut off", false, (file) => truncateSync(file, 20_000)],
    ["a file with a flipped bit", false, (file) => flip(file, 50_000)],
    ["a damaged file", true, (file) => writeFileSync(file, readFileSync(file).fill(7, 16_384, 32_768))],
    ["a text", true, (file) => writeFileSync(file, "no database")],
    [
      "the database of another program",
      true,
      (file) => [rmSync(file), change(file, "CREATE TABLE bookmarks (url TEXT)")],
    ],
    [
      "a file of a newer version",
      true,
      (file) => change(file, "UPDATE __drizzle_migrations SET created_at = created_at + 1"),
    ],
  ])("%s", async (_, fits, spoil) => {
    const { admin, file } = await aBackup();
    const before = await admin.exported();
    spoil(file);
    if (fits) fitManifest(file);
    const { status, stdout, stderr } = await admin.run("restore", file);
    expect({ status, stdout }).toEqual({ status: 1, stdout: "" });
    expect(stderr).toMatch(/^[^\n]{20,}\n$/);
    expect(stderr).not.toMatch(/Leadfile failed|\bat .*:\d+/);
    expect(await admin.exported()).toBe(before);
    expect(readdirSync(admin.folder).filter((name) => /draft|replaced/.test(name))).toEqual([]);
  });

  test("a mistyped name", async () => {
    const { admin, file } = await aBackup();
    expect((await admin.run("restore", `${file}x`)).stderr).toStartWith(`There is no file ${file}x.`);
  });

  test("the database itself", async () => {
    const { admin, file } = await aBackup();
    cpSync(`${file}.manifest.json`, `${admin.file}.manifest.json`);
    expect((await admin.run("restore", admin.file)).stderr).toContain("the database itself");
  });
});

test.each([
  ["is not there", "ENOENT", () => {}],
  ["is something else", "EISDIR", (manifest: string) => mkdirSync(manifest)],
])("rejects a backup whose manifest %s, with the reason", async (_, code, putInItsPlace) => {
  const { admin, file } = await aBackup();
  rmSync(`${file}.manifest.json`);
  putInItsPlace(`${file}.manifest.json`);
  expect((await admin.run("restore", file)).stderr).toContain(`manifest.json cannot be read (${code})`);
});

test("a plain copy of a database is restored as the error message says", async () => {
  const { admin, file } = await aBackup();
  const copy = `${file}.copied`;
  cpSync(admin.file, copy);
  const { stderr } = await admin.run("restore", copy);
  expect(stderr).toMatch(
    /DATABASE_PATH=COPY bun admin doctor --full, and then [^\n]+ backup of it, also with DATABASE_PATH=COPY\.\n$/,
  );
  const ofCopy = anAdmin([], { DATABASE_PATH: copy });
  expect((await ofCopy.run("doctor", "--full")).stdout).not.toMatch(/^broken/m);
  await ofCopy.run("backup", `${copy}.db`);
  expect(await admin.run("restore", `${copy}.db`, "--json")).toMatchObject({ status: 0, json: { leads: 20 } });
});
