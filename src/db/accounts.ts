/** Accounts: who has leads, pixels, and keys, and whether the subscription is active (§3). */
import { asc, eq, or } from "drizzle-orm";
import { randomText } from "../contract/key.ts";
import { insertAct } from "./audit.ts";
import { type Connection, type LeadDatabase, tryToWrite } from "./connection.ts";
import { accounts, deletedAccounts, unusedNumber } from "./schema.ts";

/** The number by which other tables refer to an account; people see its ID. */
export type AccountNumber = number;

/** An account as it is stored. */
export type Account = Readonly<typeof accounts.$inferSelect>;

/** Lists all accounts in the order of their creation. */
export function listAccounts(read: Connection): Account[] {
  return read.select().from(accounts).orderBy(asc(accounts.number)).all();
}

/** Finds an account by its ID or its exact name; null if there is none. */
export function findAccount(read: Connection, idOrName: string): Account | null {
  const either = or(eq(accounts.id, idOrName), eq(accounts.name, idOrName));
  return read.select().from(accounts).where(either).get() ?? null;
}

/** Creates an account with an active subscription; null if the name is taken. */
export async function createAccount(database: LeadDatabase, name: string, nowMs: number): Promise<Account | null> {
  const id = `acc_${randomText(16)}`;
  const row = { number: unusedNumber(accounts, deletedAccounts), id, name, active: true, createdAt: nowMs };
  await tryToWrite(database, [database.read.insert(accounts).values(row)]);
  return findAccount(database.read, id);
}

/** Turns a subscription on or off. Once off, no server answers for the account any more. */
export async function setSubscription(
  database: LeadDatabase,
  { number, id }: Account,
  active: boolean,
  nowMs: number,
): Promise<void> {
  const act = active ? "account.activate" : "account.deactivate";
  const { read } = database;
  await database.write(
    [
      read.update(accounts).set({ active }).where(eq(accounts.number, number)),
      insertAct(read, { atMs: nowMs, act, account: id, detail: {} }),
    ],
    active ? "local" : "everywhere",
  );
}
