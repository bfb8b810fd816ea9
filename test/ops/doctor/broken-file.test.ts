/** bun admin doctor on a file that cannot be used, or that is not what it seems. */
import { Database } from "bun:sqlite";
import { describe, expect, test } from "bun:test";
import { chmodSync, copyFileSync, readFileSync, renameSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Admin, anAdmin } from "../../support/admin.ts";
import { aHealthy, change, contentsOf, examine } from "./examined.ts";

describe("a file that cannot be used is broken: status 2, and it is left as it is", () => {
  const cases: [name: string, breakIt: (admin: Admin) => void, says: RegExp][] = [
    ["that is missing", ({ file }) => rmSync(file), /^There is no database at/],
    ["that is a folder", ({ folder, file }) => renameSync(file, join(folder, "x")), /^There is no database at/],
    ["that is no database", ({ file }) => writeFileSync(file, "Notes, and no database."), /is no database/],
    ["that is truncated", ({ file }) => truncateSync(file, 50_000), /damaged/],
    ["whose first page is gone", ({ file }) => overwrite(file, 100, 4_000), /damaged/],
    ["with a page of noise", ({ file }) => overwrite(file, 8_192 * 5, 8_192), /damaged/],
    [
      "of another program",
      (admin) => {
        rmSync(admin.file);
        change(admin, "CREATE TABLE notes (text)");
      },
      /another program/,
    ],
    [
      "of a newer version",
      (admin) => change(admin, "INSERT INTO __drizzle_migrations (hash, created_at) VALUES ('x', 9999999999999)"),
      /newer than this version/,
    ],
    [
      "of another build",
      (admin) => change(admin, "UPDATE __drizzle_migrations SET created_at = created_at - 1, hash = 'x'"),
      /another build/,
    ],
    ["that lost an index", (admin) => change(admin, "DROP INDEX leads_by_state"), /removed leads_by_state/],
  ];

  test.each(cases)("one %s", async (_, breakIt, says) => {
    const admin = await aHealthy();
    breakIt(admin);
    const { status, findings } = await examine(admin);
    expect(status).toBe(2);
    expect(findings[0]).toMatchObject({ level: "broken", what: expect.stringMatching(says) });
  });

  test("an index that does not agree with its table is found by --full", async () => {
    const admin = await aHealthy();
    change(admin, "PRAGMA user_version = 1");
    const index = "SELECT rootpage AS page FROM sqlite_schema WHERE name = 'leads_by_state'";
    using database = new Database(admin.file, { readonly: true });
    const page = database.query<{ page: number }, []>(index).get()?.page ?? 0;
    const bytes = readFileSync(admin.file);
    const place = bytes.indexOf("CA", (page - 1) * 8192);
    writeFileSync(admin.file, Buffer.concat([bytes.subarray(0, place), Buffer.from("CB"), bytes.subarray(place + 2)]));
    database.close();
    expect((await examine(admin)).status).toBe(0);
    expect((await examine(admin, "--full")).said).toMatch(/damaged: .*leads_by_state/);
  });

  test("no value of a lead is in what is said of damage", async () => {
    const admin = await aHealthy();
    truncateSync(admin.file, 100_000);
    expect((await examine(admin)).said).not.toContain("v@example.com");
  });
});

describe("a log that no program has folded in", () => {
  test("is a warning, and is not folded in by looking", async () => {
    const admin = await aHealthy();
    const database = new Database(admin.file);
    database.run("INSERT INTO pixels (account, id, status, created_at) VALUES (1, 'px_2', 'active', 0)");
    for (const name of ["", "-wal"]) copyFileSync(admin.file + name, `${admin.folder}/copy.db${name}`);
    database.close();
    const copy = anAdmin([], { DATABASE_PATH: join(admin.folder, "copy.db"), PORT: "0" });
    chmodSync(join(admin.folder, "copy.db"), 0o600);
    chmodSync(join(admin.folder, "copy.db-wal"), 0o600);
    const before = contentsOf(admin.folder);
    const { stdout, status } = await copy.run("doctor", "--json");
    expect(stdout).toContain("was not read");
    expect(status).toBe(1);
    expect(contentsOf(admin.folder)).toEqual(before);
  });
});

function overwrite(file: string, from: number, length: number): void {
  const bytes = readFileSync(file);
  bytes.fill(0xa5, from, from + length);
  writeFileSync(file, bytes);
}
