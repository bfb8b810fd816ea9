/** The migrations make the tables that the code believes in, no more and no less. */
import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { cpSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { getTableName, getViewName, is, SQL } from "drizzle-orm";
import { drizzle } from "drizzle-orm/bun-sqlite";
import { migrate } from "drizzle-orm/bun-sqlite/migrator";
import { getTableConfig, type SQLiteColumn, SQLiteTable } from "drizzle-orm/sqlite-core";
import type { Connection } from "../../src/db/connection.ts";
import { openDatabase } from "../../src/db/open.ts";
import { readableLeads } from "../../src/db/readable-leads.ts";
import * as schema from "../../src/db/schema.ts";
import { aFolder } from "../support/folder.ts";

const root = join(import.meta.dir, "../..");
const views = [readableLeads];
const tables = Object.values<unknown>(schema).filter((table): table is SQLiteTable => is(table, SQLiteTable));

function migrated(): Connection {
  return openDatabase(join(aFolder(), "leadfile.db"));
}

function rows<Row>(database: Connection, text: string): Row[] {
  return database.$client.query<Row, []>(text).all();
}

const name = (column: SQLiteColumn | SQL) => (is(column, SQL) ? "an expression" : column.name);

/** The columns, indexes, and references of a table according to the code. */
function declared(table: SQLiteTable) {
  const { columns, primaryKeys, indexes, foreignKeys } = getTableConfig(table);
  const keys = primaryKeys[0]?.columns.map(name) ?? columns.filter((column) => column.primary).map(name);
  const uniques = columns.filter((column) => column.isUnique).map((column) => `unique (${column.name})`);
  const named = indexes.map(
    ({ config }) =>
      `${config.unique ? "unique " : ""}(${config.columns.map((column) => name(column as SQLiteColumn))})`,
  );
  const references = foreignKeys.map((key) => key.reference());
  return {
    columns: columns.map((column) => [column.name, column.getSQLType(), column.notNull, keys.indexOf(column.name) + 1]),
    indexes: [...uniques, ...named].toSorted(),
    references: references
      .map(({ columns, foreignTable }) => `${columns.map(name)} to ${getTableName(foreignTable)}`)
      .toSorted(),
  };
}

/** The same according to the file. */
function found(database: Connection, table: string) {
  const columnsOf = (index: string) =>
    rows<{ name: string; key: number }>(database, `PRAGMA index_xinfo(${index})`)
      .filter(({ key }) => key === 1)
      .map(({ name }) => name);
  const columns = rows<Record<"name" | "type", string> & Record<"notnull" | "pk", number>>(
    database,
    `PRAGMA table_xinfo(${table})`,
  );
  const indexes = rows<{ name: string; unique: number; origin: string }>(database, `PRAGMA index_list(${table})`);
  const references = rows<{ from: string; table: string }>(database, `PRAGMA foreign_key_list(${table})`);
  return {
    columns: columns.map(({ name, type, notnull, pk }) => [name, type.toLowerCase(), notnull === 1, pk]),
    indexes: indexes
      .filter(({ origin }) => origin === "c")
      .map(({ name, unique }) => `${unique === 1 ? "unique " : ""}(${columnsOf(name)})`)
      .toSorted(),
    references: references.map(({ from, table }) => `${from} to ${table}`).toSorted(),
  };
}

test("the migrated tables have exactly the columns, keys, indexes, and references of the code", () => {
  const database = migrated();
  for (const table of tables) expect(found(database, getTableName(table))).toEqual(declared(table));
  database.$client.close();
});

test("the migrations create only tables and views of the schema", () => {
  const database = migrated();
  const made = rows<{ name: string }>(database, "SELECT name FROM sqlite_schema WHERE type IN ('table', 'view')");
  const ours = made.map((table) => table.name).filter((table) => !/^(__drizzle|sqlite_)/.test(table));
  expect(ours.toSorted()).toEqual([...tables.map(getTableName), ...views.map(getViewName)].toSorted());
  database.$client.close();
});

test("every table is STRICT, and tables with composite keys are WITHOUT ROWID", () => {
  const database = migrated();
  const list = rows<{ name: string; strict: number; wr: number }>(database, "PRAGMA table_list");
  for (const table of tables) {
    const { name, strict, wr } = list.find((row) => row.name === getTableName(table)) ?? { name: "", strict: 0, wr: 0 };
    const composite = getTableConfig(table).primaryKeys.length > 0;
    expect({ name, strict, wr }).toEqual({ name: getTableName(table), strict: 1, wr: composite ? 1 : 0 });
  }
  database.$client.close();
});

test("drizzle-kit has no migration to generate", async () => {
  const folder = aFolder();
  cpSync(join(root, "drizzle"), folder, { recursive: true });
  const before = readdirSync(folder, { recursive: true }).toSorted();
  const command = ["generate", "--dialect", "sqlite", "--schema", "./src/db/{schema,readable-leads}.ts"];
  const kit = Bun.spawn([process.execPath, "x", "drizzle-kit", ...command, "--out", relative(root, folder)], {
    cwd: root,
    stdout: "pipe",
    stderr: "pipe",
  });
  const said = (await kit.stdout.text()) + (await kit.stderr.text());
  expect([await kit.exited, said]).toEqual([0, expect.stringContaining("No schema changes")]);
  expect(readdirSync(folder, { recursive: true }).toSorted()).toEqual(before);
});

test("a file of the first schema keeps everything, and pending removals complete", () => {
  const folder = aFolder();
  cpSync(join(root, "drizzle"), join(folder, "drizzle"), { recursive: true });
  const journal = join(folder, "drizzle/meta/_journal.json");
  const { entries, ...rest } = JSON.parse(readFileSync(journal, "utf8"));
  writeFileSync(journal, JSON.stringify({ ...rest, entries: entries.slice(0, 1) }));
  const file = join(folder, "leadfile.db");
  const client = new Database(file);
  migrate(drizzle({ client }), { migrationsFolder: join(folder, "drizzle") });
  client.run("INSERT INTO accounts VALUES (1, 'acc_1', 'acme', 1, 5, 30, 2), (2, 'acc_2', 'beta', 1, 6, NULL, 0)");
  client.run("INSERT INTO keys VALUES (1, 1, 'key_1', x'01', 'lf_12345', NULL, 5, NULL, NULL)");
  client.run("INSERT INTO instances VALUES (1, 'ins_1', x'02')");
  client.run("INSERT INTO suppressions VALUES (1, 1, x'03', 7)");
  client.run("INSERT INTO suppressed_digests VALUES (1, x'04', 8)");
  client.run("INSERT INTO disclosures VALUES (1, '2026-01-31', '', 100, 200)");
  client.close();

  const database = openDatabase(file);
  const all = (table: string) => database.$client.query<unknown, []>(`SELECT * FROM ${table}`).values();
  expect(all("accounts").map((row) => row.slice(0, 6))).toEqual([
    [1, "acc_1", "acme", 1, 5, 30],
    [2, "acc_2", "beta", 1, 6, null],
  ]);
  expect(all("suppressions")).toEqual([[1, 1, new Uint8Array([3]), 7, null]]);
  expect(all("suppressed_digests")).toEqual([[1, new Uint8Array([4]), 8, null]]);
  expect(all("disclosures")).toEqual([[1, "2026-01-31", "", 100, 200, null]]);
  expect(all("residues")).toHaveLength(1);
  database.$client.close();
});
