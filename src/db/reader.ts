/**
 * What requests read, on a connection that is open. Nothing here writes, so that it may be a read-only connection to a file
 * that another program writes, such as a replica.
 */
import { closeSync, openSync, statSync } from "node:fs";
import { eq } from "drizzle-orm";
import type { Connection } from "./connection.ts";
import { shmOf, walOf } from "./database-files.ts";
import { beginsLikeSqlite } from "./file.ts";
import { openLeads } from "./leads.ts";
import { openPixelReader } from "./pixels.ts";
import { placeholder } from "./placeholder.ts";
import { accounts, deletedKeys, keys } from "./schema.ts";
import { type KeyFinder, QueryFailed, type ReadStore } from "./serving.ts";
import { measureSizes } from "./sizes.ts";

export interface Reader extends ReadStore {
  /** Call this after the connection is closed: closing a descriptor before would drop the locks of SQLite. */
  close(): void;
}

/** Opens what requests read from the file at a path, over a connection to it. */
export function openReader(database: Connection, path: string): Reader {
  // With the 2 MB that SQLite takes unless told, a page deep down read four pages of the file from the system.
  database.$client.run(`PRAGMA cache_size = -${32 * 1024}`);
  const file = watchFile(path);
  const pixels = openPixelReader(database);
  const leads = openLeads(database);
  const anyAccount = database.select({ number: accounts.number }).from(accounts).limit(1).prepare();
  // Another number when another connection has committed something, in this program or another.
  const dataVersion = database.$client.prepare<{ data_version: number }, []>("PRAGMA data_version");
  return {
    version: guarded(() => {
      file.assertSame();
      // SQLite always has one. NaN equals nothing, so that nothing that was kept would be served.
      return dataVersion.get()?.data_version ?? Number.NaN;
    }),
    keys: { find: guarded(openKeyFinder(database)) },
    pixels: { list: guarded(pixels.list), has: guarded(pixels.has) },
    leads: { page: guarded(leads.page) },
    probe: guarded(() => {
      file.assertSame();
      anyAccount.values();
    }),
    sizes: measureSizes(database, path),
    close: () => file.close(),
  };
}

/** Finds a key by its digest; it writes nothing. */
function openKeyFinder(database: Connection): KeyFinder["find"] {
  const statement = database
    .select({
      number: keys.number,
      account: keys.account,
      prefix: keys.prefix,
      revokedMs: keys.revokedAt,
      expiresMs: keys.expiresAt,
      subscribed: accounts.active,
    })
    .from(keys)
    .innerJoin(accounts, eq(accounts.number, keys.account))
    .where(eq(keys.digest, placeholder.blob("digest")))
    .prepare();
  const deleted = database
    .select({ account: deletedKeys.account })
    .from(deletedKeys)
    .where(eq(deletedKeys.digest, placeholder.blob("digest")))
    .prepare();
  return (digest) => statement.get({ digest }) ?? (deleted.values({ digest }).length > 0 ? deletedKey : null);
}

/** A key of a deleted account: it answers `revoked_api_key` forever. */
const deletedKey = { number: 0, account: 0, prefix: "", revokedMs: 0, expiresMs: null, subscribed: false };

/** The file is looked at no more often than this: a look takes a tenth of an answer. */
const lookEveryMs = 1;

/**
 * Notices what SQLite does not: an open file that was deleted, replaced or overwritten. Without this, the process would
 * go on serving its old content. It keeps one descriptor for as long as the database is open, because closing it would
 * drop the locks of SQLite.
 */
function watchFile(path: string) {
  const file = openSync(path, "r");
  const opened = statSync(path);
  const statOf = (part: string) => statSync(part, { throwIfNoEntry: false });
  const beside = [walOf(path), shmOf(path)].map((part) => ({ part, inode: statOf(part)?.ino }));
  let seenMs = opened.mtimeMs;
  let lookedMs = Number.NEGATIVE_INFINITY;
  return {
    /**
     * Throws when the path leads to another file than the one that was opened, or to no database any more, or has no log.
     */
    assertSame() {
      const nowMs = performance.now();
      if (nowMs - lookedMs < lookEveryMs) return;
      const now = statOf(path);
      if (now === undefined) throw new Error("the database file is gone; put it back or restart");
      if (now.ino !== opened.ino || now.dev !== opened.dev) {
        throw new Error("the database file was replaced; restart to serve the new one");
      }
      if (now.mtimeMs !== seenMs && !beginsLikeSqlite(file)) {
        throw new Error("the database file was overwritten; restore it and restart");
      }
      // Without its log, no commit of other programs gets here.
      if (beside.some(({ part, inode }) => statOf(part)?.ino !== inode)) {
        throw new Error("the log beside the database file was removed; restart, and leave -wal and -shm alone");
      }
      seenMs = now.mtimeMs;
      lookedMs = nowMs;
    },
    /** To be called when the database is closed, and its locks with it. */
    close: () => closeSync(file),
  };
}

/** Does the work. Where it fails, the caller learns that the store failed, and only the log learns why. */
export function guarded<Asked extends unknown[], Answer>(
  work: (...asked: Asked) => Answer,
): (...asked: Asked) => Answer {
  return (...asked) => {
    try {
      return work(...asked);
    } catch (cause) {
      throw new QueryFailed("the database failed", { cause });
    }
  };
}
