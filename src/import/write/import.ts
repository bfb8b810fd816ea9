/** An import: a file is staged completely, previewed, and then merged into the stored leads. */
import { dirname } from "node:path";
import type { Account } from "../../db/accounts.ts";
import type { Connection } from "../../db/connection.ts";
import { underlying } from "../../db/failure.ts";
import { openConnection } from "../../db/open.ts";
import { openPixelReader } from "../../db/pixels.ts";
import { inTransactions } from "../../db/transactions.ts";
import { prepareWriter } from "../../db/writer.ts";
import { UserError } from "../../runtime/user-error.ts";
import { emptyCounts, ImportInterrupted, type ImportOptions, type ImportOrigin, type NewLead } from "../new-lead.ts";
import type { SourceRead } from "./import-record.ts";
import { openDestination } from "./lead-writer.ts";
import { type ImportTarget, Merge, type MergeListener, openDryRun } from "./merge.ts";
import { readPreview } from "./preview.ts";
import { openStaging } from "./staging.ts";
import { openStoredLeads } from "./stored-leads.ts";

/** Begins an import into a file or a cluster. Nothing is written before its `merge`. */
export type Importer = (account: Account, options: ImportOptions, origin: ImportOrigin) => StagedImport;

/** One import. No lead is served before `merge`; an import that ends before it leaves nothing. */
export type StagedImport = ReturnType<typeof beginImport>;

/** Returns what imports into the file of a database. A separate connection writes it. */
export function importerOn(database: Connection): Importer {
  return (account, options, origin) => {
    const path = database.$client.filename;
    const connection = prepareWriter(openConnection(path));
    const target: ImportTarget = {
      read: database,
      connection,
      folder: dirname(path),
      catchUp: () => Promise.resolve(),
      open: (nowMs) => openDestination(connection, account.number, nowMs),
      transactions(work) {
        // Frees what the reading needed, to make room for the cache that the merge fills.
        if (process.memoryUsage().heapUsed > maxHeapBytes) Bun.gc(true);
        connection.$client.run(`PRAGMA cache_size = -${mergeCacheMebibytes * 1024}`);
        return inTransactions(connection, work);
      },
    };
    return beginImport(target, account, options, origin);
  };
}

/** Imports leads that no file has. Yields after each transaction. */
export async function* importLeads(staged: StagedImport, leads: Iterable<NewLead>, now: () => number) {
  try {
    for (const lead of leads) staged.add(lead);
    yield* staged.merge({ counts: emptyCounts(), layout: null }, now);
  } finally {
    staged.close();
  }
}

/** Begins an import into a file or a cluster. */
export function beginImport(target: ImportTarget, account: Account, options: ImportOptions, origin: ImportOrigin) {
  const { read, connection } = target;
  const { number } = account;
  try {
    const staging = openStaging(connection.$client, target.folder);
    const { add, reject, rejectedRows, sample } = staging;
    const stored = openStoredLeads(read, number);
    const pixels = openPixelReader(read);
    return {
      ...{ add, reject, rejectedRows, sample },
      /** Returns true if a lead with this ID is stored. */
      isStored: (id: string) => stored.find(id) !== null,
      hasPixel: (id: string) => pixels.has(number, id),
      /** Returns what the import would change. Must be called after the last `add`. */
      async preview(mayShareIds: boolean) {
        await target.catchUp();
        staging.sort();
        return readPreview(connection, number, staging, { ...options, mayShareIds });
      },
      /**
       * Merges the staged leads, and adds to the counts of the reading. At each step, one more transaction is on the disk.
       * Throws a UserError if it is interrupted.
       */
      async *merge(source: SourceRead, now: () => number, listener?: MergeListener) {
        staging.sort();
        try {
          const { open, transactions } = options.dryRun ? openDryRun(connection, number) : target;
          const work = new Merge({ account, options, origin, staging, read: source, now, listener }, open);
          for await (const _ of transactions(work)) yield work.progress();
        } catch (cause) {
          throw interrupted(cause);
        }
      },
      close: () => connection.$client.close(),
    };
  } catch (cause) {
    connection.$client.close();
    throw cause;
  }
}

/** Below this, what the reading left is not worth a collection, which takes ten times as long as an import of one row. */
const maxHeapBytes = 16 * 1024 * 1024;

/**
 * The page cache size of a merge. Random IDs touch a different index page for each row. Sorting uses the same amount
 * again.
 */
export const mergeCacheMebibytes = 112;

function interrupted(failure: unknown): unknown {
  const cause = underlying(failure);
  if (cause instanceof UserError) return cause;
  const reason = cause instanceof Error ? cause.message : "unknown";
  return new ImportInterrupted(
    `The import was interrupted (${reason}). Leads that were added before are kept.`,
    "Fix the cause, then import the file again: only the missing leads are added.",
    cause,
  );
}
