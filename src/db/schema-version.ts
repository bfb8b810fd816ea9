/** The schema of a file compared with that of this version. */
import { join } from "node:path";
import { sql } from "drizzle-orm";
import { readMigrationFiles } from "drizzle-orm/migrator";
import { build } from "../program-name.ts";
import { UserError } from "../user-error.ts";
import type { Connection } from "./connection.ts";

/** The executable has its code in one folder, and this one in it. */
export const migrationsFolder = join(import.meta.dir, Bun.isStandaloneExecutable ? "drizzle" : "../../drizzle");

/** When each migration was made that this version of Leadfile knows. */
export function knownMs(): number[] {
  return readMigrationFiles({ migrationsFolder }).map((migration) => migration.folderMillis);
}

/** Why this version cannot use a file. A build between two versions has a schema that is not known. */
export type Unusable = `database of ${"another program" | "a newer version" | "another build"}`;

/** Throws a UserError for a file that this version cannot use, before anything in it is changed. */
export function refuseUnusable(database: Connection, path: string): void {
  const behind = migrationsBehind(database);
  if (typeof behind !== "number") throw new UserError(...wordsFor(behind, path, lastBuild(database)));
}

/** What is wrong with a file that this version cannot use, and what to do. */
export function wordsFor(unusable: Unusable, path: string, theirs: string): [what: string, advice: string] {
  switch (unusable) {
    case "database of another program":
      return [
        `${path} is the database of another program.`,
        "Set DATABASE_PATH to another file, or move this one away.",
      ];
    case "database of a newer version":
      return [
        `${path} was written by Leadfile ${theirs}, which is newer than this version, ${build}.`,
        "Install that version or a later one. This one leaves the file as it is.",
      ];
    case "database of another build":
      return [
        `${path} was written by Leadfile ${theirs}, another build that this version, ${build}, cannot upgrade.`,
        "Keep the file, export its leads with that build (lead export), and import them into a new file.",
      ];
  }
}

/** The build that wrote a file last. Version 0.1.0 did not record it. */
export function lastBuild(database: Connection): string {
  const table = sql`SELECT 1 FROM sqlite_schema WHERE name = 'builds'`;
  if (database.values(table).length === 0) return "0.1.0";
  return database.values<[string]>(sql`SELECT build FROM builds WHERE number = 1`)[0]?.[0] ?? "an unknown build";
}

/** How many migrations a file lacks, or why it cannot be used. */
export function migrationsBehind(database: Connection): number | Unusable {
  const known = knownMs();
  // Another first start may run at the same time. So the tables are asked for first, and the migrations after them.
  const used = hasTables(database);
  const applied = appliedMs(database);
  if (applied === null) return used ? "database of another program" : known.length;
  if (applied > Math.max(...known)) return "database of a newer version";
  // A build between two versions has a migration that became another one before it was released.
  return known.includes(applied) ? known.filter((ms) => ms > applied).length : "database of another build";
}

/** When the newest migration of the file was made; null for a file that has none. */
export function appliedMs(database: Connection): number | null {
  const table = sql`SELECT 1 FROM sqlite_schema WHERE name = '__drizzle_migrations'`;
  if (database.values(table).length === 0) return null;
  const newest = database.values<[number | null]>(sql`SELECT max(created_at) FROM __drizzle_migrations`)[0];
  return newest?.[0] ?? null;
}

function hasTables(database: Connection): boolean {
  const table = sql`SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name <> '__drizzle_migrations' LIMIT 1`;
  return database.values(table).length > 0;
}
