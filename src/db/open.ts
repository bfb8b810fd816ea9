/** The database on a file that only this program writes: opened, created, and migrated, with the settings behind every promise. */
import { constants, Database } from "bun:sqlite";
import { randomBytes } from "node:crypto";
import { accessSync, chmodSync, constants as fileConstants, statSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { sql } from "drizzle-orm";
import { drizzle } from "drizzle-orm/bun-sqlite";
import { randomText } from "../contract/key.ts";
import { build } from "../runtime/program-name.ts";
import { type Connection, connectTo, type LeadDatabase, runStatement, WriteRefused } from "./connection.ts";
import { sizeOf, walOf } from "./database-files.ts";
import { codeOf, explainFailure, orElse, underlying } from "./failure.ts";
import { whileInPlace, writeWhenFree } from "./locks.ts";
import { lastBuild, migrateSchema, refuseUnusable } from "./migrate.ts";
import { instances } from "./schema.ts";

/** Opens the file at a path, created and migrated if need be. */
export function openFileDatabase(path: string): LeadDatabase {
  return { ...databaseOn(openDatabase(path)), path };
}

/** The database on a connection that is open already. */
export function databaseOn(connection: Connection): LeadDatabase {
  return {
    path: connection.$client.filename,
    read: connection,
    async write(statements) {
      const runAll = connection.$client.transaction(() => {
        for (const statement of statements) runStatement(connection, statement);
      });
      try {
        writeWhenFree(connection.$client, () => runAll.immediate());
      } catch (failure) {
        const cause = underlying(failure);
        if (!codeOf(cause).startsWith("SQLITE_CONSTRAINT")) throw cause;
        throw new WriteRefused(cause instanceof Error ? cause.message : String(cause), { cause });
      }
    },
    async *writeBatches(next) {
      return yield* (await import("./writer.ts")).writeBatches(
        connection,
        () => openConnection(connection.$client.filename),
        next,
      );
    },
    catchUp: async () => {},
    removeResidualBytes: async () => (await import("./vacuum.ts")).removeResidualBytes(connection),
    close: () => connection.$client.close(),
  };
}

/** Opens the file at a path. Throws a UserError if it cannot be used. */
export function openDatabase(path: string): Connection {
  try {
    return whileInPlace(path, () => {
      // Only the owner may read the files that this process creates from now on, such as a copy before an upgrade.
      process.umask(0o077);
      restrictEmpty(path);
      return openConnection(path);
    });
  } catch (cause) {
    const unwritable = isOnReadOnlyDisk(path) ? orElse(() => openUnwritable(path), null) : null;
    if (unwritable !== null) return unwritable;
    throw explainFailure(cause, path);
  }
}

/** Returns whether a file is on a file system that is mounted read-only, as after an error of the disk. */
function isOnReadOnlyDisk(path: string): boolean {
  try {
    accessSync(path, fileConstants.W_OK);
    return false;
  } catch (cause) {
    return codeOf(cause) === "EROFS";
  }
}

/** Opens a file that nobody can write, for reading. Without a log it is complete; with one, its index must be there. */
function openUnwritable(path: string): Connection | null {
  const url = pathToFileURL(path);
  if (sizeOf(walOf(path)) === 0) url.searchParams.set("immutable", "1");
  const connection = connectTo(url.href, constants.SQLITE_OPEN_READONLY | constants.SQLITE_OPEN_URI);
  connection.run("PRAGMA temp_store = MEMORY");
  if (refuseUnusable(connection, path) === 0) return connection;
  connection.$client.close();
  return null;
}

/** Makes an empty file, as touch or an installer leaves it, private before anything is in it. */
function restrictEmpty(path: string): void {
  const found = statSync(path, { throwIfNoEntry: false });
  if (found?.isFile() === true && found.size === 0 && (found.mode & 0o077) !== 0) chmodSync(path, 0o600);
}

/**
 * Opens a connection to a file, created and migrated if need be, without a look at the file itself: a process that has it open
 * already would lose its locks. Throws the error of SQLite, or a UserError for a file that cannot be used.
 */
export function openConnection(path: string): Connection {
  const client = new Database(path, { create: true, readwrite: true });
  try {
    // The log, emptied, and its index stay next to the file: on a full disk there would be no room to create them.
    client.fileControl(constants.SQLITE_FCNTL_PERSIST_WAL, 1);
    client.run("PRAGMA journal_size_limit = 0");
    // For a new file only. A lead is about 600 bytes, so two pages of this size hold a page of leads.
    client.run("PRAGMA page_size = 8192");
    writeWhenFree(client, () => void refuseUnusable(drizzle({ client }), path));
    // Readers and the one writer do not wait for each other then.
    writeWhenFree(client, () => client.run("PRAGMA journal_mode = WAL"));
    // A key, a revocation or an import that was reported as done survives a power cut; NORMAL would lose the last ones.
    client.run("PRAGMA synchronous = FULL");
    client.run("PRAGMA foreign_keys = ON");
    // Sorting and dry runs must not leave anybody's data in a folder of temporary files.
    client.run("PRAGMA temp_store = MEMORY");
    // Deleted data is overwritten. So an erasure usually finds nothing left in the file.
    client.run("PRAGMA secure_delete = ON");
    const database = drizzle({ client });
    migrateSchema(database, path);
    recordBuild(database);
    ensureInstance(database);
    return database;
  } catch (cause) {
    client.close();
    throw cause;
  }
}

/** Records that this build writes the file. A full disk or a lock must not keep anybody from opening it. */
function recordBuild(database: Connection): void {
  if (lastBuild(database) === build) return;
  try {
    database.run(sql`INSERT OR REPLACE INTO builds (number, build) VALUES (1, ${build})`);
  } catch {
    // The next one that opens the file tries again.
  }
}

/** Makes the random key when the file is made, so that the receipts of all erasures fit every backup. */
export function ensureInstance(database: Connection): void {
  if (database.select().from(instances).limit(1).all().length > 0) return;
  const made = { number: 1, id: `ins_${randomText(12)}`, secret: randomBytes(32) };
  database.insert(instances).values(made).onConflictDoNothing().run();
}

/** Returns the ID of the instance whose database this is; null if the file has none yet. */
export function instanceOf(database: Connection): string | null {
  const [first] = database.select({ id: instances.id }).from(instances).orderBy(instances.number).limit(1).all();
  return first?.id ?? null;
}
