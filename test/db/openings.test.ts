/** Opening the file: what is made, what is migrated, and what is refused and left as it is. */
import { Database } from "bun:sqlite";
import { describe, expect, spyOn, test } from "bun:test";
import {
  chmodSync,
  cpSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { getTableName } from "drizzle-orm";
import { drizzle } from "drizzle-orm/bun-sqlite";
import { version } from "../../package.json";
import { migrateSchema } from "../../src/db/migrate.ts";
import { openDatabase } from "../../src/db/open.ts";
import { leads } from "../../src/db/schema.ts";
import { UserError } from "../../src/runtime/user-error.ts";
import { openServedStore } from "../../src/server/store.ts";
import { anAdmin } from "../support/admin.ts";
import { aLead, someLeads } from "../support/builders.ts";
import { aKey, anAccount, documentsOf, openTestDatabase } from "../support/database.ts";
import { aFolder } from "../support/folder.ts";
import { needing } from "../support/needing.ts";
import { type Finished, start } from "../support/process.ts";
import { aSmallDisk, fill } from "../support/small-disk.ts";

const root = join(import.meta.dir, "../..");

/** The line with which a file is refused. */
function refusalOf(path: string): string {
  try {
    openServedStore(path).close();
  } catch (cause) {
    if (cause instanceof UserError) return cause.sentence;
    throw cause;
  }
  throw new Error("the file was opened");
}

const modeOf = (path: string) => (statSync(path).mode & 0o777).toString(8);

describe("a missing file", () => {
  test("is made with its folder, for its owner alone, and so are the files next to it", async () => {
    const path = join(aFolder(), "new", "folder", "leadfile.db");
    // In a process of its own, because earlier tests may have changed the mask of this one.
    await open(root, path);
    expect([path, `${path}-wal`, `${path}-shm`].map(modeOf)).toEqual(["600", "600", "600"]);
    expect([join(path, ".."), join(path, "../..")].map(modeOf)).toEqual(["700", "700"]);
  });

  test("is made of an empty one, which only the owner can read from then on", () => {
    const path = join(aFolder(), "leadfile.db");
    writeFileSync(path, "");
    chmodSync(path, 0o644);
    const store = openServedStore(path);
    expect([store.probe(), modeOf(path)]).toEqual([false, "600"]);
    store.close();
  });

  test("is created once when several programs start at the same time", async () => {
    // Once would be chance: whether the starts meet is up to the machine.
    for (let round = 0; round < 3; round++) {
      const path = join(aFolder(), "leadfile.db");
      const starts = Array.from({ length: 3 }, () => open(root, path));
      expect(await Promise.all(starts)).toEqual(starts.map(() => silent));
    }
  });
});

test("a file that another program creates at this moment is not taken for an old one", () => {
  const path = join(aFolder(), "leadfile.db");
  using client = new Database(path, { create: true, readwrite: true });
  const database = drizzle({ client });
  const values = database.values.bind(database);
  spyOn(database, "values").mockImplementationOnce(<Row extends unknown[]>(query: Parameters<typeof values>[0]) => {
    const before = values<Row>(query);
    openDatabase(path).$client.close();
    return before;
  });
  // There is no folder for a copy.
  expect(() => migrateSchema(database, "/nowhere/leadfile.db")).not.toThrow();
});

describe("a file of another program", () => {
  test.each([
    ["a text", "These are not the leads that you are looking for."],
    ["a text shorter than the head of a database", "leads"],
    ["a damaged database", `SQLite format 3\0${"?".repeat(8192)}`],
  ])("is rejected and left unchanged: %s", (_, content) => {
    const path = join(aFolder(), "leadfile.db");
    writeFileSync(path, content);
    const line = refusalOf(path);
    expect(line).toContain(path);
    expect(line).toContain("DATABASE_PATH");
    expect(readFileSync(path, "utf8")).toBe(content);
  });

  test("is rejected and left unchanged: the database of another program", () => {
    const path = join(aFolder(), "other.db");
    using other = new Database(path);
    other.run("CREATE TABLE bookmarks (url TEXT)");
    expect(refusalOf(path)).toContain("another program");
    const tables = other.query<{ name: string }, []>("SELECT name FROM sqlite_schema").all();
    expect(tables).toEqual([{ name: "bookmarks" }]);
  });

  test("is rejected and left unchanged: a build with different migrations", async () => {
    const path = join(aFolder(), "leadfile.db");
    // A process of its own leaves nothing open.
    await open(root, path);
    using other = new Database(path);
    other.run("UPDATE __drizzle_migrations SET created_at = created_at - 1, hash = 'another'");
    other.close();
    const before = readFileSync(path);
    for (let attempt = 0; attempt < 2; attempt++) expect(refusalOf(path)).toMatch(/another build.*export its leads/);
    expect(readFileSync(path).equals(before)).toBe(true);
    expect(readdirSync(dirname(path)).filter((name) => name.includes(".before-"))).toEqual([]);
  });

  test("is rejected: a folder", () => {
    const path = aFolder();
    expect(refusalOf(path)).toContain(path);
  });
});

describe("a file of an older version", () => {
  test("is migrated after a copy of it was made, and the older version then refuses it", async () => {
    const path = join(aFolder(), "leadfile.db");
    const database = openTestDatabase(path);
    const lead = aLead();
    const account = anAccount(database, { leads: [lead] });
    aKey(database, account);
    database.close();
    const { folder } = aLaterVersion();

    const copy = `${path}.before-${version}`;
    // Somebody went back to this version once, and has worked with it since.
    writeFileSync(copy, "of long ago");
    const { status, stderr } = await open(folder, path);
    expect([status, stderr.trim().split("\n")]).toEqual([0, [expect.stringContaining(copy)]]);
    expect(refusalOf(path)).toContain("newer than this version");
    expect(modeOf(copy)).toBe("600");
    const older = openTestDatabase(copy);
    expect(documentsOf(older, account.number)).toEqual([JSON.stringify(lead)]);
    older.close();
    using migrated = new Database(path);
    const docs = migrated
      .query<{ doc: string; later: number }, []>(`SELECT doc, later FROM ${getTableName(leads)}, later`)
      .all();
    expect(docs).toEqual([{ doc: JSON.stringify(lead), later: 7 }]);
  });

  needing("mount")("is backed up again if a full disk truncated the copy", async () => {
    using disk = aSmallDisk(aFolder(), "size=4m");
    const path = join(disk.path, "leadfile.db");
    const database = openTestDatabase(path);
    const account = anAccount(database, { leads: someLeads(500) });
    database.close();
    const { folder } = aLaterVersion();
    fill(disk.path);
    const rest = join(disk.path, "rest");
    truncateSync(rest, statSync(rest).size - 300_000);
    expect((await open(folder, path)).status).toBe(1);
    rmSync(rest);
    expect((await open(folder, path)).status).toBe(0);
    expect(readdirSync(disk.path).filter((name) => name.includes("draft"))).toEqual([]);
    const copy = openTestDatabase(`${path}.before-${version}`);
    expect(documentsOf(copy, account.number)).toHaveLength(500);
    copy.close();
  });

  test("is not copied when there is nothing to migrate", async () => {
    const path = join(aFolder(), "leadfile.db");
    const { folder } = aLaterVersion();
    for (let times = 0; times < 2; times++) expect(await open(folder, path)).toEqual(silent);
    expect(await Bun.file(`${path}.before-${version}`).exists()).toBe(false);
  });
});

const silent: Finished = { status: 0, stdout: "", stderr: "" };

/** Opens and closes a file in a process of its own, with the code in a folder. */
function open(folder: string, path: string): Promise<Finished> {
  const code = `import { openFileDatabase } from ${JSON.stringify(join(folder, "src/db/open.ts"))};
    openFileDatabase(${JSON.stringify(path)}).close();`;
  return start({}, aFolder(), [process.execPath, "-e", code]).finished();
}

/** The code of this version with one migration more, as a later version will have it. */
function aLaterVersion(): { folder: string } {
  const folder = aFolder();
  for (const part of ["drizzle", "src", "packages", "package.json"]) {
    cpSync(join(root, part), join(folder, part), { recursive: true });
  }
  symlinkSync(join(root, "node_modules"), join(folder, "node_modules"));
  const journalPath = join(folder, "drizzle/meta/_journal.json");
  const journal = JSON.parse(readFileSync(journalPath, "utf8"));
  const last = journal.entries.at(-1);
  journal.entries.push({ ...last, idx: last.idx + 1, when: last.when + 1000, tag: "later" });
  writeFileSync(journalPath, JSON.stringify(journal));
  const sql =
    "CREATE TABLE `later` (`later` integer) STRICT;\n--> statement-breakpoint\nINSERT INTO `later` VALUES (7);";
  writeFileSync(join(folder, "drizzle/later.sql"), sql);
  return { folder };
}

needing("mount")("commands that read work on a file system that became read-only, and others are refused", async () => {
  using disk = aSmallDisk(aFolder(), "size=20m");
  const admin = anAdmin([], { DATABASE_PATH: join(disk.path, "leadfile.db") });
  await admin.run("account", "create", "acme");
  await admin.import("pixel_id,email\npx,dana@example.com\n");
  Bun.gc(true);
  expect(Bun.spawnSync(["mount", "-o", "remount,ro", disk.path]).exitCode).toBe(0);
  const found = await admin.run("lead", "find", "acme", "--email", "dana@example.com", "--json");
  expect(found).toMatchObject({ status: 0, json: { leads: [{ email: "dana@example.com" }] } });
  expect(found.stderr).toMatch(/^Warning: the audit log has no record of the search/);
  expect((await admin.run("key", "create", "acme")).status).toBe(1);
});
