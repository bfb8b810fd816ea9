/** Removes the bytes of deleted leads from the file and its log. */
import { inArray } from "drizzle-orm";
import { UserError } from "../user-error.ts";
import type { Connection } from "./connection.ts";
import { removeStaleDrafts } from "./leftovers.ts";
import { residues } from "./schema.ts";
import { vacuum } from "./vacuum.ts";
import { truncateWal } from "./wal.ts";

/** Readers end within moments; a backup or another program may take longer. */
const patienceMs = 15_000;

/**
 * Rewrites the file without anything that was deleted, and empties its log. Deleted pages may hold stale copies that SQLite
 * does not overwrite, so nothing else is certain. Killed, the next erasure, retention, or start completes it.
 */
export function removeResidualBytes(connection: Connection): string[] {
  const left = connection.select({ number: residues.number }).from(residues).all();
  if (left.length === 0) return [];
  // A restore that was killed has left a copy of everything.
  removeStaleDrafts(connection.$client.filename);
  // While somebody reads the old state, the log cannot be emptied, and a rewritten file only makes it longer.
  if (!emptyLog(connection)) throw keptInUse();
  vacuum(connection);
  if (!emptyLog(connection)) throw keptInUse();
  const numbers = left.map(({ number }) => number);
  connection.delete(residues).where(inArray(residues.number, numbers)).run();
  return [];
}

function emptyLog(connection: Connection): boolean {
  const endMs = performance.now() + patienceMs;
  while (!truncateWal(connection)) {
    if (performance.now() > endMs) return false;
    Bun.sleepSync(50);
  }
  return true;
}

function keptInUse(): UserError {
  return new UserError(
    "The leads are erased, but their bytes stay in the log as long as another program reads the old state.",
    "Stop that program (a long query, a backup, or Litestream), and run the command again.",
  );
}
