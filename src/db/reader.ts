/**
 * Everything that requests read (§4), on a connection that is open. Nothing here writes, so that it may be a read-only
 * connection to a file that another program writes, such as a replica.
 */
import { eq } from "drizzle-orm";
import type { Connection } from "./connection.ts";
import { watchFile } from "./file-watch.ts";
import { openLeads } from "./leads.ts";
import { openPixelReader } from "./pixels.ts";
import { placeholder } from "./placeholder.ts";
import { accounts, deletedKeys, keys } from "./schema.ts";
import { measureSizes } from "./sizes.ts";

/** The store from which requests read. */
export type Reader = ReturnType<typeof openReader>;

/** A key as a request needs it. */
export type KnownKey = NonNullable<ReturnType<Reader["keys"]["find"]>>;

/** Opens the reads of requests on a connection to the file at a path. `file` detects commits, and a deleted or replaced file. */
export function openReader(database: Connection, path: string, file = watchFile(path)) {
  // With SQLite's default of 2 MB, a page deep down read four pages of the file from the system.
  database.$client.run(`PRAGMA cache_size = -${32 * 1024}`);
  const anyAccount = database.select({ number: accounts.number }).from(accounts).limit(1).prepare();
  // Changes whenever another connection commits, in this program or another.
  const dataVersion = database.$client.prepare<{ data_version: number }, []>("PRAGMA data_version");
  let version = Number.NaN;
  return {
    /**
     * Returns a number that changes if others have written, so that what was read before may be stale. Call it before a
     * request is answered: whatever was committed before holds for the request, a revocation too.
     */
    version(): number {
      file.assertSame();
      if (file.mayHaveCommits()) {
        // NaN equals nothing: if the query fails, no cached page is served.
        version = Number.NaN;
        version = dataVersion.get()?.data_version ?? version;
      }
      return version;
    },
    keys: { find: openKeyFinder(database) },
    pixels: openPixelReader(database),
    leads: openLeads(database),
    /** Reads something from the file itself: whether it has an account. */
    probe(): boolean {
      file.assertSame();
      return anyAccount.values().length > 0;
    },
    sizes: measureSizes(database, path),
    /** Call this after the connection is closed: closing a descriptor before would drop the locks of SQLite. */
    close: () => file.close(),
  };
}

/** Finds a key by its digest; null if there is none. A key of a deleted account is a revoked one, forever. */
function openKeyFinder(database: Connection) {
  const statement = database
    .select({
      number: keys.number,
      account: keys.account,
      /** The first characters of the key, for logs. */
      prefix: keys.prefix,
      revokedMs: keys.revokedAt,
      expiresMs: keys.expiresAt,
      /** True while the account has an active subscription. */
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
  const deletedKey = { number: 0, account: 0, prefix: "", revokedMs: 0, expiresMs: null, subscribed: false };
  return (digest: Buffer) => statement.get({ digest }) ?? (deleted.values({ digest }).length > 0 ? deletedKey : null);
}
