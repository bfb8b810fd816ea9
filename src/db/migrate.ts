/** The schema of a file compared with the migrations under drizzle/, and brought up to them. */
import { renameSync } from "node:fs";
import { dirname, join } from "node:path";
import { sql } from "drizzle-orm";
import { readMigrationFiles } from "drizzle-orm/migrator";
import { version } from "../../package.json";
import { printMessage } from "../runtime/process.ts";
import { build } from "../runtime/program-name.ts";
import { UserError } from "../runtime/user-error.ts";
import { type Connection, withTemporaryFiles } from "./connection.ts";
import { createDraftFolder, sync } from "./database-files.ts";

/** The executable has its code in one folder, and this one in it. */
const migrationsFolder = join(import.meta.dir, Bun.isStandaloneExecutable ? "drizzle" : "../../drizzle");

/** Reads the known migrations, oldest first. */
const knownMigrations = () => readMigrationFiles({ migrationsFolder });

/** Returns when the newest migration of a file was made; null for a file that has none. */
function appliedMs(database: Connection): number | null {
  if (!hasTable(database, "__drizzle_migrations")) return null;
  return database.values<[number | null]>(sql`SELECT max(created_at) FROM __drizzle_migrations`)[0]?.[0] ?? null;
}

function hasTable(database: Connection, name: string): boolean {
  return database.values(sql`SELECT 1 FROM sqlite_schema WHERE name = ${name}`).length > 0;
}

/**
 * Returns the number of migrations that a file lacks. Throws a UserError for a file that this version cannot use, before
 * anything in it is changed.
 */
export function refuseUnusable(database: Connection, path: string): number {
  // Another process may create the same file at this moment, so the tables are read before the migrations.
  const tables = sql`SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name <> '__drizzle_migrations' LIMIT 1`;
  const isUsed = database.values(tables).length > 0;
  const applied = appliedMs(database);
  if (applied === null && isUsed) {
    const advice = "Set DATABASE_PATH to another file, or move this one away.";
    throw new UserError(`${path} is the database of another program.`, advice);
  }
  const known = knownMigrations().map(({ folderMillis }) => folderMillis);
  if (applied === null || known.includes(applied)) return known.filter((ms) => ms > (applied ?? 0)).length;
  const written = `${path} was written by Leadfile ${lastBuild(database)}`;
  if (applied > Math.max(...known)) {
    throw new UserError(
      `${written}, which is newer than this version, ${build}.`,
      "Install that version or a later one. This one leaves the file as it is.",
    );
  }
  // A development build has a migration that was replaced before the release.
  throw new UserError(
    `${written}, another build that this version, ${build}, cannot upgrade.`,
    "Keep the file, export its leads with that build (lead export), and import them into a new file.",
  );
}

/** Returns the build that wrote a file last. Version 0.1.0 did not record it. */
export function lastBuild(database: Connection): string {
  if (!hasTable(database, "builds")) return "0.1.0";
  return database.values<[string]>(sql`SELECT build FROM builds WHERE number = 1`)[0]?.[0] ?? "an unknown build";
}

/** Returns the number of migrations that a file has: the version of its schema. */
export function schemaVersion(database: Connection): number {
  const applied = appliedMs(database) ?? 0;
  return knownMigrations().filter(({ folderMillis }) => folderMillis <= applied).length;
}

/** Migrates an older file, after keeping a copy of it. Only for a file that `refuseUnusable` accepts. */
export function migrateSchema(database: Connection, path: string, copy: "copy first" | "no copy" = "copy first"): void {
  // Read once: another process may create the same file at this moment, and that is no old one.
  const applied = appliedMs(database);
  if (pendingMigrations(database, applied).length === 0) return;
  if (applied !== null && copy === "copy first") keepCopy(database, path);
  // A migration that rebuilds a table would cascade its deletes.
  database.run(sql`PRAGMA foreign_keys = OFF`);
  const client = database.$client;
  // Drizzle's migrator hides a full disk behind "cannot rollback", because SQLite has already rolled back.
  const migrate = client.transaction(() => {
    client.run(
      "CREATE TABLE IF NOT EXISTS __drizzle_migrations (id SERIAL PRIMARY KEY, hash text NOT NULL, created_at numeric)",
    );
    for (const { statements, hash, createdMs } of pendingMigrations(database)) {
      for (const statement of statements) client.run(statement);
      client.run("INSERT INTO __drizzle_migrations (hash, created_at) VALUES (?, ?)", [hash, createdMs]);
    }
  });
  withTemporaryFiles(database, () => migrate.immediate());
  const broken = database.values(sql`PRAGMA foreign_key_check`);
  if (broken.length > 0) throw new Error(`the migration left ${broken.length} rows without their parents`);
  database.run(sql`PRAGMA foreign_keys = ON`);
}

/** Announces the copy: with many leads the first start of a new version takes long, and would seem to hang. */
function keepCopy(database: Connection, path: string): void {
  const copy = `${path}.before-${version}`;
  printMessage(
    `Upgrading ${path} from ${lastBuild(database)} to ${build}, which takes about a minute for a million leads. ` +
      `A copy of the old file is kept as ${copy}.`,
  );
  using folder = createDraftFolder(dirname(path));
  const draft = join(folder.path, "copy.db");
  database.run(sql`VACUUM INTO ${draft}`);
  // Another process may have migrated the file during the copy, and has its own copy.
  if (pendingMigrations(database).length === 0) return;
  sync(draft);
  renameSync(draft, copy);
  sync(dirname(copy));
}

/** Returns the migrations that a file lacks. */
export function pendingMigrations(database: Connection, applied = appliedMs(database)) {
  return knownMigrations()
    .filter(({ folderMillis }) => folderMillis > (applied ?? 0))
    .map(({ sql: statements, hash, folderMillis }) => ({ statements, hash, createdMs: folderMillis }));
}
