/** The seam of the core on a file: a write is all or nothing. */
import { expect, test } from "bun:test";
import { readdirSync, readlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { eq, sql } from "drizzle-orm";
import { changedExactly, connectTo, WriteRefused } from "../../src/db/connection.ts";
import { openFileDatabase } from "../../src/db/open.ts";
import { accounts } from "../../src/db/schema.ts";
import { aFolder } from "../support/folder.ts";
import { needing } from "../support/needing.ts";

const anAccount = (name: string) => ({ id: `acc_${name}`, name, active: true, createdAt: 0 });

test("a write runs all its statements", async () => {
  const database = openFileDatabase(join(aFolder(), "leadfile.db"));
  const { read } = database;
  await database.write([
    read.insert(accounts).values([anAccount("acme"), anAccount("other")]),
    read.update(accounts).set({ active: false }).where(eq(accounts.name, "acme")),
    changedExactly(1),
    sql`DELETE FROM ${accounts} WHERE name = ${"other"}`,
  ]);
  expect(read.select({ name: accounts.name, active: accounts.active }).from(accounts).all()).toEqual([
    { name: "acme", active: false },
  ]);
  database.close();
});

test("a write that violates a constraint changes nothing", async () => {
  const database = openFileDatabase(join(aFolder(), "leadfile.db"));
  const { read } = database;
  const writing = database.write([
    read.insert(accounts).values(anAccount("acme")),
    read.insert(accounts).values(anAccount("acme")),
  ]);
  expect(writing).rejects.toBeInstanceOf(WriteRefused);
  expect(read.select().from(accounts).all()).toEqual([]);
  database.close();
});

needing("/proc/self/fd")(
  "a file that was opened as it is, is closed at the end of the block, although its statements are still there",
  () => {
    const path = join(aFolder(), "leadfile.db");
    writeFileSync(path, "");
    const descriptors = () => readdirSync("/proc/self/fd").filter((fd) => isOpenAt(fd, path)).length;
    {
      using database = connectTo(path, "readonly");
      expect(database.values(sql`SELECT count(*) FROM sqlite_schema`)).toEqual([[0]]);
      expect(descriptors()).toBeGreaterThan(0);
    }
    expect(descriptors()).toBe(0);
  },
);

/** Returns whether a descriptor is that of a file; it may have been closed since the folder was read. */
function isOpenAt(fd: string, path: string): boolean {
  try {
    return readlinkSync(join("/proc/self/fd", fd)) === path;
  } catch {
    return false;
  }
}
