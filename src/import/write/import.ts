/** An import: a file is staged completely, previewed, and then merged into the stored leads. */
import { dirname } from "node:path";
import type { AccountNumber } from "../../db/accounts.ts";
import type { Connection } from "../../db/connection.ts";
import { underlying } from "../../db/failure.ts";
import { openAgain } from "../../db/open.ts";
import { openPixels } from "../../db/pixels.ts";
import { pagesUntilCopied } from "../../db/wal.ts";
import { UserError } from "../../user-error.ts";
import { ImportInterrupted, type ImportOptions, type ImportOrigin } from "../new-lead.ts";
import type { Importer, StagedImport } from "../staged-import.ts";
import { openDestination, writeLeads } from "./lead-writer.ts";
import { mergeIntoFile } from "./merge.ts";
import { readPreview } from "./preview.ts";
import { openStaging, type Staging } from "./staging.ts";
import { openStoredLeads } from "./stored-leads.ts";

/** Returns what imports into the file of a database. */
export function importerOn(database: Connection): Importer {
  return {
    begin: (account, options, origin) => beginImport(database, account.number, options, origin),
    async writeLeads(account, leads, options) {
      const write = () => writeLeads(openDestination(database, account, options.nowMs), leads, options);
      return database.transaction(write, { behavior: "immediate" });
    },
  };
}

/** Begins an import into the file of a database. A separate connection writes it. */
export function beginImport(
  database: Connection,
  account: AccountNumber,
  options: ImportOptions,
  origin: ImportOrigin,
): StagedImport {
  const path = database.$client.filename;
  const writer = openForImport(path);
  try {
    // The leads are staged on the connection that writes, so that they stay within SQLite.
    const staging = openStaging(writer.$client, dirname(path));
    return {
      ...openPreparation(database, account, { connection: writer, staging }, options),
      async *merge(read, now, listener) {
        try {
          staging.sort();
          // Frees what the reading needed, to make room for the cache that the merge fills.
          if (process.memoryUsage().heapUsed > maxHeapBytes) Bun.gc(true);
          enlargeCache(writer);
          yield* mergeIntoFile(writer, { account, options, origin, staging, read, now, listener });
        } catch (cause) {
          throw interrupted(cause);
        }
      },
      close: () => writer.$client.close(),
    };
  } catch (cause) {
    writer.$client.close();
    throw cause;
  }
}

/** Opens the file once more for an import, which copies the log into the file less often. */
export function openForImport(path: string): Connection {
  const database = openAgain(path);
  database.$client.run(`PRAGMA wal_autocheckpoint = ${pagesUntilCopied.byWriter}`);
  // Another thread brings the log to the disk before anything counts as done (large-transactions.ts).
  database.$client.run("PRAGMA synchronous = NORMAL");
  // The accounts and pixels of leads are looked up before. With this check SQLite would also copy each page (merge.ts).
  database.$client.run("PRAGMA foreign_keys = OFF");
  return database;
}

/** Below this, what the reading left is not worth a collection, which takes ten times as long as an import of one row. */
const maxHeapBytes = 16 * 1024 * 1024;

/** The size of the page cache for the merge of an import. */
export const mergeCacheMebibytes = 112;

/**
 * For a connection that begins to write much: ids without an order touch a page of their index each. Whatever is sorted
 * from then on takes as much memory again.
 */
function enlargeCache({ $client }: Connection): void {
  $client.run(`PRAGMA cache_size = -${mergeCacheMebibytes * 1024}`);
}

interface Staged {
  /** The connection on which the leads are staged. */
  readonly connection: Connection;
  readonly staging: Staging;
}

/**
 * Returns what comes before the merge: leads are staged, and compared with the stored ones. While the file is read, stored
 * leads are looked up on another connection: that of the staging has a transaction open, and would see old ones.
 */
export function openPreparation(
  database: Connection,
  account: AccountNumber,
  { connection, staging }: Staged,
  options: ImportOptions,
): Omit<StagedImport, "merge" | "close"> {
  const { add, reject, rejectedRows, sample } = staging;
  const stored = openStoredLeads(database, account);
  const pixels = openPixels(database);
  return {
    ...{ add, reject, rejectedRows, sample },
    isStored: (id) => stored.find(id) !== null,
    hasPixel: (id) => pixels.has(account, id),
    async preview(mayShareIds) {
      staging.sort();
      return readPreview(connection, account, staging, { ...options, mayShareIds });
    },
  };
}

function interrupted(failure: unknown): unknown {
  const cause = underlying(failure);
  if (cause instanceof UserError) return cause;
  const reason = cause instanceof Error ? cause.message : "unknown";
  return new ImportInterrupted(
    `The import was interrupted (${reason}). Leads that were committed before stay.`,
    "Fix the cause, then import the file again: only the missing leads are added.",
    cause,
  );
}
