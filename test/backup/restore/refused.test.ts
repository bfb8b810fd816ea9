/** bun admin restore refuses what is no whole backup, and leaves the data as it was. */
import { Database } from "bun:sqlite";
import { describe, expect, test } from "bun:test";
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { anAdmin } from "../../support/admin.ts";
import { aBackup, fitManifest, flip } from "./a-backup.ts";

describe("rejects in one line and changes nothing:", () => {
  const spoil: [string, (file: string) => void][] = [
    ["a missing file", (file) => rmSync(file)],
    ["one without its manifest", (file) => rmSync(`${file}.manifest.json`)],
    ["one with a manifest that is none", (file) => writeFileSync(`${file}.manifest.json`, '{"sha256":1}')],
    ["one whose manifest has an invalid time", (file) => fitManifest(file, { made_at: "2026-13-45" })],
    ["a file that was cut off", (file) => truncateSync(file, 20_000)],
    ["a file with a flipped bit", (file) => flip(file, 50_000)],
    [
      "a damaged file whose digest fits",
      (file) => {
        writeFileSync(
          file,
          Buffer.concat([
            readFileSync(file).subarray(0, 16_384),
            Buffer.alloc(16_384, 7),
            readFileSync(file).subarray(32_768),
          ]),
        );
        fitManifest(file);
      },
    ],
    [
      "a text",
      (file) => {
        writeFileSync(file, "no database");
        fitManifest(file);
      },
    ],
    [
      "the database of another program",
      (file) => {
        rmSync(file);
        using other = new Database(file);
        other.run("CREATE TABLE bookmarks (url TEXT)");
        other.close();
        fitManifest(file);
      },
    ],
    [
      "a file of a newer version",
      (file) => {
        using newer = new Database(file);
        newer.run("UPDATE __drizzle_migrations SET created_at = created_at + 1");
        newer.close();
        fitManifest(file);
      },
    ],
    [
      "one with fewer leads than its manifest says",
      (file) => {
        const { counts } = JSON.parse(readFileSync(`${file}.manifest.json`, "utf8"));
        fitManifest(file, { counts: { ...counts, leads: 21 } });
      },
    ],
  ];
  test.each(spoil)("%s", async (_, spoilFile) => {
    const { admin, file } = await aBackup();
    const before = await admin.exported();
    spoilFile(file);
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
