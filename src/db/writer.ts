/** Connections for much work, such as an import or an undo. */
import { type Connection, type NextBatch, runStatement } from "./connection.ts";
import { addedBytes, inTransactions } from "./transactions.ts";
import { pagesUntilCopied } from "./wal.ts";

/** Prepares a connection of its own for long transactions (transactions.ts). It runs checkpoints less often. */
export function prepareWriter(database: Connection): Connection {
  database.$client.run(`PRAGMA wal_autocheckpoint = ${pagesUntilCopied.byWriter}`);
  // Another thread syncs the WAL to the disk before anything counts as done.
  database.$client.run("PRAGMA synchronous = NORMAL");
  // The accounts and pixels of leads are looked up before. With foreign keys, SQLite would also copy each page (merge.ts).
  database.$client.run("PRAGMA foreign_keys = OFF");
  return database;
}

/** A signal ends the work after a transaction, and the progress is shown then. */
const batches = { ...addedBytes, transactionMs: 1_000 };

/**
 * Writes batches on a new connection, in as few transactions as other programs allow: a page that changes for several leads is
 * written once.
 */
export async function* writeBatches(
  read: Connection,
  open: () => Connection,
  next: NextBatch,
): AsyncGenerator<number, number> {
  const earliestMs = Number.MIN_SAFE_INTEGER;
  let written = { leads: 0, lastMs: earliestMs };
  // Often there is nothing to do. Finding that out needs no lock.
  if (next(read, earliestMs, 1) === null) return 0;
  let committed = written;
  const writer = prepareWriter(open());
  const work = {
    begin: () => void (committed = written),
    step(max: number): boolean {
      const batch = next(writer, written.lastMs, max);
      for (const statement of batch?.statements ?? []) runStatement(writer, statement);
      if (batch !== null) written = { leads: written.leads + batch.leads, lastMs: batch.lastMs };
      return batch !== null;
    },
    end: () => {},
    rollBack: () => void (written = committed),
    isStopping: () => false,
  };
  try {
    // Random IDs are spread over all pages of their index. A page that is not in the cache is written again for each lead.
    writer.$client.run(`PRAGMA cache_size = -${64 * 1024}`);
    for await (const _ of inTransactions(writer, work, batches)) yield written.leads;
  } finally {
    writer.$client.close();
  }
  return written.leads;
}
