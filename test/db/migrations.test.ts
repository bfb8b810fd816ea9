/** The migrations make the tables that the code believes in, no more and no less. */
import { Database } from "bun:sqlite";
import { expect, onTestFinished, test } from "bun:test";
import { cpSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { generateSQLiteDrizzleJson, generateSQLiteMigration } from "drizzle-kit/api";
import { getTableName, is } from "drizzle-orm";
import { drizzle } from "drizzle-orm/bun-sqlite";
import { migrate } from "drizzle-orm/bun-sqlite/migrator";
import { getTableConfig, SQLiteTable } from "drizzle-orm/sqlite-core";
import { openDatabase } from "../../src/db/open.ts";
import { readableLeads } from "../../src/db/readable-leads.ts";
import * as schema from "../../src/db/schema.ts";
import { aFolder } from "../support/folder.ts";

const root = join(import.meta.dir, "../..");
const tables = Object.values<unknown>(schema).filter((table): table is SQLiteTable => is(table, SQLiteTable));

function migrated(): Database {
  const { $client } = openDatabase(join(aFolder(), "leadfile.db"));
  onTestFinished(() => $client.close());
  return $client;
}

const ofCode = () => generateSQLiteDrizzleJson({ ...schema, readableLeads });

function rows<Row>(database: Database, text: string): Row[] {
  return database.query<Row, []>(text).all();
}

/** The columns, keys, indexes, and references of each table of a database, and its views. */
function shapeOf(database: Database) {
  const made = rows<{ name: string; type: string }>(
    database,
    "SELECT name, type FROM sqlite_schema WHERE type IN ('table', 'view') ORDER BY name",
  );
  const ours = made.filter(({ name }) => !/^(__drizzle|sqlite_)/.test(name));
  return ours.map(({ name, type }) => ({
    name,
    type,
    columns: rows<Record<"name" | "type", string> & Record<"notnull" | "pk", number>>(
      database,
      `PRAGMA table_xinfo(${name})`,
    ).map(({ name, type, notnull, pk }) => [name, type.toLowerCase(), notnull, pk]),
    indexes: rows<{ name: string; unique: number; origin: string }>(database, `PRAGMA index_list(${name})`)
      .filter(({ origin }) => origin === "c")
      .map((index) => [index.name, index.unique, rows(database, `PRAGMA index_xinfo(${index.name})`)])
      .toSorted(),
    references: rows<{ from: string; table: string }>(database, `PRAGMA foreign_key_list(${name})`)
      .map(({ from, table }) => `${from} to ${table}`)
      .toSorted(),
  }));
}

test("the migrated file has exactly the tables, columns, keys, indexes, references, and views of the code", async () => {
  using declared = new Database(":memory:");
  const statements = await generateSQLiteMigration(await generateSQLiteDrizzleJson({}), await ofCode());
  for (const statement of statements) declared.run(statement);
  expect(shapeOf(migrated())).toEqual(shapeOf(declared));
});

test("every table is STRICT, and tables with composite keys are WITHOUT ROWID", () => {
  const list = rows<{ name: string; strict: number; wr: number }>(migrated(), "PRAGMA table_list");
  for (const table of tables) {
    const { name, strict, wr } = list.find((row) => row.name === getTableName(table)) ?? { name: "", strict: 0, wr: 0 };
    const composite = getTableConfig(table).primaryKeys.length > 0;
    expect({ name, strict, wr }).toEqual({ name: getTableName(table), strict: 1, wr: composite ? 1 : 0 });
  }
});

test("drizzle-kit has no migration to generate", async () => {
  const meta = join(root, "drizzle/meta");
  const { entries } = JSON.parse(readFileSync(join(meta, "_journal.json"), "utf8"));
  const last = JSON.parse(
    readFileSync(join(meta, `${String(entries.length - 1).padStart(4, "0")}_snapshot.json`), "utf8"),
  );
  expect(await generateSQLiteMigration(last, await ofCode())).toEqual([]);
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
  expect(all("suppressions")).toEqual([
    [1, new Uint8Array([3]), 1, 7, null],
    [1, new Uint8Array([4]), null, 8, null],
  ]);
  // Earlier versions recorded pages, not leads.
  expect(all("keys").map((row) => row.at(-1))).toEqual([200]);
  expect(all("ledger_gaps")).toEqual([[1, "", 5, null, "upgrade"]]);
  expect(all("residues")).toHaveLength(1);
  database.$client.close();
});
