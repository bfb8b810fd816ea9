/** Opens the one file: made and migrated if need be, with the settings that every promise rests on. */
import { chmodSync, mkdirSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { drizzle } from "drizzle-orm/bun-sqlite";
import type { Connection } from "./connection.ts";
import { explainFailure, isLocked } from "./failure.ts";
import { inodeOf } from "./file.ts";
import { lockWaitMs } from "./locks/lock-wait.ts";
import { RequestingDatabase } from "./locks/requesting-database.ts";
import { ensureInstance, migrateSchema, recordBuild, refuseUnusable } from "./migrate.ts";
import { pagesUntilCopied } from "./wal.ts";

/** Opens the file at a path. Throws a UserError if it cannot be used. */
export function openDatabase(path: string): Connection {
  // Only the owner may read the file. Its copies and its log are made with the same mask.
  process.umask(0o077);
  try {
    mkdirSync(dirname(path), { recursive: true });
    closeEmpty(path);
    return connectToPath(path);
  } catch (cause) {
    throw explainFailure(cause, path);
  }
}

/** Takes from others the file that touch or an installer has made, before anything is in it. */
function closeEmpty(path: string): void {
  const found = statSync(path, { throwIfNoEntry: false });
  if (found?.isFile() === true && found.size === 0 && (found.mode & 0o077) !== 0) chmodSync(path, 0o600);
}

/** A restore may have put another file at the path while this process waited for the old one. */
function connectToPath(path: string): Connection {
  for (;;) {
    const before = inodeOf(path);
    const database = openAgain(path, before);
    if (before === undefined || before === inodeOf(path)) return database;
    database.$client.close();
  }
}

/**
 * Opens a file a second time within a process, without a look at the file itself: that would drop the locks of the
 * process. The inode is that of the file where another one may be put at the path meanwhile.
 */
export function openAgain(path: string, inode?: number): Connection {
  const client = new RequestingDatabase(path, { create: true, readwrite: true });
  try {
    // For a new file only. A lead is about 600 bytes, so two pages of this size hold a page of leads.
    client.run("PRAGMA page_size = 8192");
    // While this process waited, a restore may have put another file here. SQLite finds the log of a file by its name: a
    // connection to the old file would use the log of the new one, and might delete it.
    const isReplaced = () => inode !== undefined && inode !== inodeOf(path);
    untilUnlocked(() => isReplaced() || refuseUnusable(drizzle({ client }), path));
    if (isReplaced()) {
      client.close();
      return openAgain(path, inodeOf(path));
    }
    // Readers and the one writer do not wait for each other then.
    untilUnlocked(() => client.run("PRAGMA journal_mode = WAL"));
    client.run(`PRAGMA busy_timeout = ${lockWaitMs.toWrite}`);
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

/** The same for an import, which copies the log into the file less often. */
export function openForImport(path: string): Connection {
  const database = openAgain(path);
  database.$client.run(`PRAGMA wal_autocheckpoint = ${pagesUntilCopied.byWriter}`);
  // Another thread brings the log to the disk before anything counts as done (large-transactions.ts).
  database.$client.run("PRAGMA synchronous = NORMAL");
  // The accounts and pixels of leads are looked up before. Beside that check SQLite would copy each page (merge.ts).
  database.$client.run("PRAGMA foreign_keys = OFF");
  return database;
}

/** How much of a file the merge of an import keeps at hand. */
export const mergeCacheMebibytes = 112;

/**
 * For a connection that begins to write much: ids without an order touch a page of their index each. Whatever is sorted
 * from then on takes as much memory again.
 */
export function enlargeCache({ $client }: Connection): void {
  $client.run(`PRAGMA cache_size = -${mergeCacheMebibytes * 1024}`);
}

/** Tries for as long as another program has the file locked, and throws what SQLite says then. */
function untilUnlocked(work: () => unknown): void {
  const endMs = performance.now() + lockWaitMs.toWrite;
  for (;;) {
    try {
      work();
      return;
    } catch (cause) {
      if (!isLocked(cause) || performance.now() > endMs) throw cause;
      Bun.sleepSync(5);
    }
  }
}
