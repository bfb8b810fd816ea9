/** Rewrites the whole file, which may not fit into memory: so that nothing of deleted leads is left in it. */
import { dirname } from "node:path";
import { inArray } from "drizzle-orm";
import { UserError } from "../runtime/user-error.ts";
import { type Connection, withTemporaryFiles } from "./connection.ts";
import { removeAbandonedDrafts } from "./database-files.ts";
import { writeWhenFree } from "./locks.ts";
import { residues } from "./schema.ts";
import { truncateWal } from "./wal.ts";

/** Rewrites the file without anything that was deleted. Readers go on, and writers wait. */
export function vacuum(database: Connection): void {
  withTemporaryFiles(database, () => database.$client.run("VACUUM"));
}

/** Readers end within milliseconds; a backup or another program may take longer. */
const patienceMs = 15_000;

/**
 * Rewrites the file without anything that was deleted, and empties its log. Deleted pages may hold stale copies that SQLite
 * does not overwrite, so nothing else is certain. Killed, the next erasure, retention, or start completes it.
 */
export function removeResidualBytes(connection: Connection): string[] {
  const left = connection.select({ number: residues.number }).from(residues).all();
  if (left.length === 0) return [];
  // A restore that was killed has left a copy of everything.
  removeAbandonedDrafts(dirname(connection.$client.filename), 0);
  // While somebody reads the old state, the log cannot be emptied, and a rewritten file only makes it longer.
  emptyLog(connection);
  vacuum(connection);
  emptyLog(connection);
  const numbers = left.map(({ number }) => number);
  writeWhenFree(connection.$client, () => connection.delete(residues).where(inArray(residues.number, numbers)).run());
  return [];
}

function emptyLog(connection: Connection): void {
  const endMs = performance.now() + patienceMs;
  while (!truncateWal(connection)) {
    if (performance.now() > endMs) {
      throw new UserError(
        "The leads are erased, but their bytes stay in the log while another program reads the old data.",
        "Stop that program (a long query, a backup, or Litestream), and run the command again.",
      );
    }
    Bun.sleepSync(50);
  }
}
