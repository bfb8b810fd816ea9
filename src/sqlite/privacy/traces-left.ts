/**
 * Leads were deleted, and their bytes have not been removed yet. It is kept in the file from the transaction that deletes
 * to the end of the search: one that was killed or stopped, or had a reader in its way, is completed by the next one.
 */
import { eq } from "drizzle-orm";
import type { AccountNumber } from "../../store/reading.ts";
import type { Connection } from "../connection.ts";
import { accounts } from "../schema.ts";

/** Whether any account has such leads. */
export function areTracesLeft(database: Connection): boolean {
  const left = database.select({ number: accounts.number }).from(accounts).where(eq(accounts.tracesLeft, true));
  return left.limit(1).values().length > 0;
}

/** To be called in the transaction that deletes. */
export function noteTraces(database: Connection, account: AccountNumber): void {
  database.update(accounts).set({ tracesLeft: true }).where(eq(accounts.number, account)).run();
}

/** To be called when nothing is left in the bytes of the file. */
export function forgetTraces(database: Connection): void {
  database.update(accounts).set({ tracesLeft: false }).where(eq(accounts.tracesLeft, true)).run();
}
