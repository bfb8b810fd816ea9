/** The seam of the core on a file: a write is all or nothing. */
import { expect, test } from "bun:test";
import { join } from "node:path";
import { eq, sql } from "drizzle-orm";
import { changedExactly, WriteRefused } from "../../src/db/connection.ts";
import { openFileDatabase } from "../../src/db/open.ts";
import { accounts } from "../../src/db/schema.ts";
import { aFolder } from "../support/folder.ts";

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
