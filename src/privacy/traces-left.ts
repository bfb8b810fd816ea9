/**
 * Leads were deleted, and their bytes have not been removed yet. It is kept in the file from the transaction that deletes
 * to the end of the search: one that was killed or stopped, or had a reader in its way, is completed by the next one.
 */
import { eq, gt, sql } from "drizzle-orm";
import type { Connection } from "../db/connection.ts";
import { accounts } from "../db/schema.ts";
import type { AccountNumber } from "../store/reading.ts";

/** How often leads of an account were deleted by one who has not removed their bytes. */
interface Left {
  readonly account: AccountNumber;
  readonly deletions: number;
}

function listLeft(database: Connection): Left[] {
  const columns = { account: accounts.number, deletions: accounts.tracesLeft };
  return database.select(columns).from(accounts).where(gt(accounts.tracesLeft, 0)).all();
}

/** Whether any account has such leads. */
export function areTracesLeft(database: Connection): boolean {
  return listLeft(database).length > 0;
}

/**
 * What one who begins to delete has to remove: what others have left, and what is deleted from here on. Others may delete
 * meanwhile, and may be killed: what they have left then stays on record.
 */
export function openTraces(database: Connection) {
  const toRemove = new Map(listLeft(database).map(({ account, deletions }) => [account, deletions]));
  return {
    /** Whether others have left some: nobody knows any more whose bytes those are. */
    wereLeft: toRemove.size > 0,
    /** To be called in the transaction that deletes. */
    note(account: AccountNumber): void {
      const more = { tracesLeft: sql`${accounts.tracesLeft} + 1` };
      database.update(accounts).set(more).where(eq(accounts.number, account)).run();
      toRemove.set(account, (toRemove.get(account) ?? 0) + 1);
    },
    /** To be called when nothing of it is left in the bytes of the file. */
    forget(): void {
      for (const [account, deletions] of toRemove) {
        const fewer = { tracesLeft: sql`max(0, ${accounts.tracesLeft} - ${deletions})` };
        database.update(accounts).set(fewer).where(eq(accounts.number, account)).run();
      }
    },
  };
}
