/** Brings the schema of a file up to the migrations under drizzle/. */
import { renameSync } from "node:fs";
import { dirname } from "node:path";
import { sql } from "drizzle-orm";
import { migrate } from "drizzle-orm/bun-sqlite/migrator";
import { readMigrationFiles } from "drizzle-orm/migrator";
import { version } from "../../package.json";
import { build } from "../program-name.ts";
import { draftOf, removeDraft, sync } from "./atomic-file.ts";
import type { Connection } from "./connection.ts";
import { removeStaleDrafts } from "./leftovers.ts";
import { appliedMs, knownMs, lastBuild, migrationsBehind, migrationsFolder } from "./schema-version.ts";
import { withTemporaryFiles } from "./vacuum.ts";

/** Migrates an older file, after it has put a copy beside it. Only for a file that `refuseUnusable` lets pass. */
export function migrateSchema(database: Connection, path: string, copy: "copy first" | "no copy" = "copy first"): void {
  const known = knownMs();
  const newest = Math.max(...known);
  const applied = appliedMs(database);
  if (applied === newest) return;
  if (applied !== null && copy === "copy first") keepCopy(database, path);
  apply(database, newest);
}

/** How many migrations a file has: the version of its schema. */
export function schemaVersion(database: Connection): number {
  const applied = appliedMs(database) ?? 0;
  return knownMs().filter((ms) => ms <= applied).length;
}

interface Migration {
  readonly statements: readonly string[];
  readonly hash: string;
  readonly madeMs: number;
}

/** The migrations that a file lacks, for whoever writes it in another way than this process. */
export function pendingMigrations(database: Connection): Migration[] {
  const applied = appliedMs(database) ?? 0;
  return readMigrationFiles({ migrationsFolder })
    .filter(({ folderMillis }) => folderMillis > applied)
    .map(({ sql: statements, hash, folderMillis }) => ({ statements, hash, madeMs: folderMillis }));
}

function apply(database: Connection, newest: number): void {
  // A migration that rebuilds a table would cascade its deletes.
  database.run(sql`PRAGMA foreign_keys = OFF`);
  try {
    withTemporaryFiles(database, () => migrate(database, { migrationsFolder }));
  } catch (cause) {
    // Two first starts at once: the other one was faster, and made the same schema.
    if (appliedMs(database) !== newest) throw cause;
  }
  const broken = database.values(sql`PRAGMA foreign_key_check`);
  if (broken.length > 0) throw new Error(`the migration left ${broken.length} rows without their parents`);
  database.run(sql`PRAGMA foreign_keys = ON`);
}

/** Says so: with many leads the first start of a new version takes long, and would seem to hang. */
function keepCopy(database: Connection, path: string): void {
  const copy = `${path}.before-${version}`;
  process.stderr.write(
    `Upgrading ${path} from ${lastBuild(database)} to ${build}, which takes about a minute for a million leads. ` +
      `A copy from before is kept as ${copy}.\n`,
  );
  const draft = draftOf(copy);
  removeStaleDrafts(copy);
  try {
    database.run(sql`VACUUM INTO ${draft}`);
    // Another first start at once may have migrated the file by now, and has its copy.
    if (migrationsBehind(database) === 0) return;
    sync(draft);
    renameSync(draft, copy);
    sync(dirname(copy));
  } finally {
    removeDraft(draft);
  }
}
