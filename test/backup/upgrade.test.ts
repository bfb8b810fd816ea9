/** Upgrades: a file of every released version opens with this one, and `upgrade --check` changes nothing. */
import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import {
  copyFileSync,
  existsSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { version } from "../../package.json";
import { listSources } from "../../src/db/sources.ts";
import { type Admin, anAdmin } from "../support/admin.ts";
import { openTestDatabase } from "../support/database.ts";
import { needing } from "../support/needing.ts";
import { aSmallDisk, fill } from "../support/small-disk.ts";
import { printed } from "./restore/a-backup.ts";

const fixtures = join(import.meta.dir, "../fixtures");
const released = readdirSync(fixtures).flatMap((name) => /^(.+)\.db\.gz$/.exec(name)?.[1] ?? []);

/** A database of a released version. It has the accounts acme and other, of which a person was erased in acme. */
function aReleased(release: string, nowMs: number | null = null, disk?: string): Admin {
  const own = anAdmin([], disk === undefined ? {} : { DATABASE_PATH: join(disk, "leadfile.db") }, nowMs);
  const admin = { ...own, file: join(disk ?? own.folder, "leadfile.db") };
  writeFileSync(admin.file, Bun.gunzipSync(readFileSync(join(fixtures, `${release}.db.gz`))));
  return admin;
}

const leadsOf = (release: string) => readFileSync(join(fixtures, `${release}.ndjson`), "utf8");
const exported = async (admin: Admin) => (await admin.exported("acme")) + (await admin.exported("other"));

test("the fixtures contain a file of the first release", () => {
  expect(released).toContain("0.1.0");
});

test.each(released)(
  "a file of %s is checked on a copy, and opens with every lead, key, source, block, and setting",
  async (release) => {
    const admin = aReleased(release);
    const before = readFileSync(admin.file);
    const checked = await admin.run("upgrade", "--check", "--json");
    const expected = { from: release, to: expect.stringContaining(version), leads: 7, seconds: expect.any(Number) };
    expect(checked).toMatchObject({ status: 0, json: expected });
    expect(readFileSync(admin.file).equals(before)).toBe(true);
    expect(readdirSync(admin.folder).filter((name) => /drill|before/.test(name))).toEqual([]);

    const { stderr } = await admin.run("account", "list");
    expect(stderr).toContain(`from ${release} to ${version}`);
    expect(existsSync(`${admin.file}.before-${version}`)).toBe(true);
    expect(await exported(admin)).toBe(leadsOf(release));
    const keys: { state: string }[] = await printed(admin, "key", "list", "acme");
    expect(keys.map(({ state }) => state).toSorted()).toEqual(["active", "revoked"]);
    const database = openTestDatabase(admin.file);
    expect(listSources(database.read, 1)).toMatchObject([{ label: "rb2b", revokedMs: null }]);
    database.close();
    expect(await printed(admin, "account", "list")).toMatchObject([
      { name: "acme" },
      { name: "other", retain_days: 36_500 },
    ]);
    const again = await admin.import("date,pixel_id,email\n2026-02-01,px,erased@example.com\n");
    expect(again.json).toMatchObject({ imported: 0, suppressed: 1 });
  },
);

test.each(released)("a backup of %s is restored, also over a file of that version", async (release) => {
  const admin = aReleased(release);
  const backup = join(admin.folder, `${release}.db`);
  copyFileSync(admin.file, backup);
  copyFileSync(join(fixtures, `${release}.db.manifest.json`), `${backup}.manifest.json`);
  expect(await admin.run("backup", "--drill", backup)).toMatchObject({ status: 0 });
  const { status, json } = await admin.run("restore", backup, "--json");
  expect({ status, ...json }).toMatchObject({ status: 0, leads: 7, erased_again: 0 });
  expect(await exported(admin)).toBe(leadsOf(release));
});

for (const release of released) {
  needing("mount")(
    `an upgrade of ${release} on a full disk names the cause, and completes when there is room`,
    async () => {
      const disk = aSmallDisk(anAdmin([]).folder, "size=4m");
      using _ = disk;
      const admin = aReleased(release, null, disk.path);
      fill(disk.path);
      // There is room for the copy.
      truncateSync(join(disk.path, "rest"), statSync(join(disk.path, "rest")).size - 1.5 * statSync(admin.file).size);
      const { status, stderr } = await admin.run("upgrade");
      expect([status, stderr]).toEqual([
        1,
        expect.stringMatching(/\nThe disk of \S+ is full\. Free some space, [^\n]+\n$/),
      ]);
      rmSync(join(disk.path, "rest"));
      expect((await admin.run("upgrade")).status).toBe(0);
      expect(await exported(admin)).toBe(leadsOf(release));
    },
  );
}

test("upgrade --check says that a file of this version needs no upgrade", async () => {
  const admin = anAdmin();
  const { status, stdout } = await admin.run("upgrade", "--check");
  expect([status, stdout]).toEqual([0, expect.stringContaining("needs no upgrade")]);
});

test("the error about a newer file names the build that wrote it and this one", async () => {
  const admin = anAdmin();
  await admin.run("account", "list");
  using database = new Database(admin.file);
  database.run("UPDATE builds SET build = '9.8.7 (abcdef0)'");
  database.run("UPDATE __drizzle_migrations SET created_at = created_at + 1e9");
  database.close();
  const says = new RegExp(`Leadfile 9\\.8\\.7 \\(abcdef0\\).*this version, ${version}`);
  for (const command of ["account list", "upgrade --check"])
    expect(await admin.run(...command.split(" "))).toMatchObject({ status: 1, stderr: expect.stringMatching(says) });
});
