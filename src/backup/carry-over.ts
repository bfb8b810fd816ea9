/**
 * What must outlive a restore. An erased person stays erased, a revoked key stays revoked. Subscription and retention
 * are as they were set last, and the records go on. `old` is the file that is replaced.
 */
import { type SQL, sql } from "drizzle-orm";
import { dayMs } from "../contract/calendar.ts";
import { type Connection, changedRows } from "../db/connection.ts";
import { exportDocuments } from "../db/export.ts";
import { identifiersOf } from "../privacy/identifiers.ts";
import { openDeletion } from "../privacy/one-lead.ts";
import { accountsWithBlocks, openSuppressions } from "../privacy/suppressions.ts";
import type { Merged } from "../store/backups.ts";
import type { Part } from "./carried-parts.ts";

/** Brings over what can be read, and says how much that was. Call it within a transaction. */
export function mergeReplaced(database: Connection, readable: readonly Part[], nowMs: number): Merged[] {
  return readable
    .map(({ name, prepares, merges }) => {
      for (const statement of prepares?.(nowMs) ?? []) run(database, statement);
      return { name, count: merges(nowMs).reduce((sum, merge) => sum + run(database, merge), 0) };
    })
    .filter(({ count }) => count > 0);
}

/** How many rows a statement has changed. */
function run(database: Connection, statement: SQL): number {
  database.run(statement);
  return changedRows(database);
}

/** Deletes all leads of erased persons. Gives the number of leads. */
export function eraseAgain(database: Connection): number {
  let erased = 0;
  for (const account of accountsWithBlocks(database)) {
    const isBlocked = openSuppressions(database, account);
    const remove = openDeletion(database, account.number);
    for (const documents of exportDocuments(database, account.number)) {
      const gone = documents.filter((document) => isBlocked(identifiersOf(JSON.parse(document))));
      for (const document of gone) remove(document);
      erased += gone.length;
    }
  }
  return erased;
}

/**
 * Deletes leads that are older than their account keeps (oldestKeptMs): the server would serve them until its retention has
 * run.
 */
export function leaveOutOlder(database: Connection, nowMs: number): number {
  return run(
    database,
    sql`DELETE FROM main.stored_leads WHERE identified_at < (
      SELECT ${nowMs} - retain_days * ${dayMs} FROM main.accounts WHERE accounts.number = stored_leads.account)`,
  );
}
