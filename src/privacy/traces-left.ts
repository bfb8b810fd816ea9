/**
 * Leads were deleted, and their bytes may still be in the file. Each transaction that deletes leaves a row, which goes when
 * the file has been rewritten: if that fails or is killed, the next erasure, retention, or start completes it.
 */
import { inArray } from "drizzle-orm";
import type { Connection } from "../db/connection.ts";
import { residues } from "../db/schema.ts";

function listLeft(database: Connection): number[] {
  return database
    .select({ number: residues.number })
    .from(residues)
    .all()
    .map(({ number }) => number);
}

/** Whether bytes of deleted leads may be left. */
export function areTracesLeft(database: Connection): boolean {
  return listLeft(database).length > 0;
}

/** A number that no other transaction takes. */
const randomNumber = () => Math.floor(Math.random() * 2 ** 48);

/**
 * What one who begins to delete has to remove: what others have left, and what is deleted from here on. Others may delete
 * meanwhile, and may be killed: what they have left then stays on record.
 */
export function openTraces(database: Connection) {
  const toRemove = listLeft(database);
  return {
    /** Whether others have left some: nobody knows any more whose bytes those are. */
    wereLeft: toRemove.length > 0,
    /** To be called in the transaction that deletes. */
    note(): void {
      const number = randomNumber();
      database.insert(residues).values({ number }).run();
      toRemove.push(number);
    },
    /** To be called when nothing of it is left in the bytes of the file. */
    forget(): void {
      if (toRemove.length > 0) database.delete(residues).where(inArray(residues.number, toRemove)).run();
    },
  };
}
