/** Deletes an account. Only its ID and the digests of its keys remain, so that the keys stay revoked. */
import { type Static, Type } from "@sinclair/typebox";
import { and, eq, is, type SQL, sql } from "drizzle-orm";
import { getTableConfig, SQLiteTable } from "drizzle-orm/sqlite-core";
import { formatTime } from "../contract/time.ts";
import { insertAct } from "../db/audit.ts";
import type { Connection, LeadDatabase } from "../db/connection.ts";
import * as schema from "../db/schema.ts";
import { accounts, audit, deletedAccounts, deletedKeys, keys, leads, pixels } from "../db/schema.ts";
import { deleteLeads } from "../db/steps.ts";
import { countLeads } from "./find.ts";
import { Hashes, Timestamp } from "./receipts.ts";
import { residueStatement } from "./retention.ts";
import type { SuppressedAccount } from "./suppressions.ts";

/** Proves the deletion of an account. A restore that knows it leaves the account out. */
export const DeletionReceipt = Type.Object({
  deleted_at: Timestamp,
  /** The ID of the account. */
  account: Type.String(),
  leads: Type.Integer(),
  /** SHA-256 of its keys. They answer `revoked_api_key` forever. */
  keys: Hashes,
});
export type DeletionReceipt = Static<typeof DeletionReceipt>;

/**
 * Deletes an account. Its keys are refused from the first step on; then its leads go, some at each step, and with the last
 * step everything else. Interrupted and run again, it completes.
 */
export async function* deleteAccount(
  database: LeadDatabase,
  { number, id }: SuppressedAccount,
  nowMs: number,
): AsyncGenerator<number> {
  await database.catchUp();
  const { read } = database;
  const revoke = sql`UPDATE ${keys} SET revoked_at = ${nowMs} WHERE account = ${number} AND revoked_at IS NULL`;
  const end = read.update(accounts).set({ active: false }).where(eq(accounts.number, number));
  // If the command is killed and run again, it reports the number from the first run.
  const detail = { leads: countLeads(read, number) };
  const begin = insertAct(read, { atMs: nowMs, act: "account.deactivate", account: id, detail });
  await database.write([revoke, end, begin], "everywhere");
  await database.catchUp();
  const found = maxLeadsAtStart(database.read, id);
  const count = Math.max(
    found,
    yield* deleteLeads(database, eq(leads.account, number), (some) => [residueStatement(some)]),
  );
  await database.write(
    [
      sql`INSERT INTO deleted_accounts (id, deleted_at, leads) VALUES (${id}, ${nowMs}, ${count})`,
      sql`INSERT INTO deleted_keys (digest, account) SELECT digest, ${id} FROM keys WHERE account = ${number}`,
      ...rowStatements(number),
      read.delete(accounts).where(eq(accounts.number, number)),
      residueStatement(read),
      insertAct(read, { atMs: nowMs, act: "account.delete", account: id, detail: { leads: count } }),
    ],
    "everywhere",
  );
}

/** Returns the largest number of leads with which a deletion of an account began. */
function maxLeadsAtStart(database: Connection, id: string): number {
  const activated = sql`coalesce((SELECT max(number) FROM ${audit} WHERE account = ${id} AND act = 'account.activate'), 0)`;
  const begun = and(eq(audit.account, id), eq(audit.act, "account.deactivate"), sql`${audit.number} > ${activated}`);
  const most = sql<number | null>`max(${audit.detail} ->> '$.leads')`;
  return database.select({ most }).from(audit).where(begun).get()?.most ?? 0;
}

/** Returns the receipt of an account that was deleted; null if none with this ID was. */
export function findDeletion(database: Connection, id: string): DeletionReceipt | null {
  const deleted = database.select().from(deletedAccounts).where(eq(deletedAccounts.id, id)).get();
  if (deleted === undefined) return null;
  const digests = database.select({ digest: deletedKeys.digest }).from(deletedKeys).where(eq(deletedKeys.account, id));
  const keys = digests.all().map(({ digest }) => digest.toString("hex"));
  return { deleted_at: formatTime(deleted.deletedAt), account: id, leads: deleted.leads, keys };
}

/** Returns the statements that delete the rows of an account in all tables: those of its keys first, then its own. */
export function rowStatements(account: number): SQL[] {
  const tables = Object.values<unknown>(schema).filter((table): table is SQLiteTable => is(table, SQLiteTable));
  const referringTo = (owner: SQLiteTable) =>
    tables.filter((table) => getTableConfig(table).foreignKeys.some((key) => key.reference().foreignTable === owner));
  // An import that ran at the same time may have added leads. They refer to pixels.
  const last: SQLiteTable[] = [pixels, keys];
  const ofAccount = [...referringTo(accounts).filter((table) => !last.includes(table)), ...last];
  return [
    ...referringTo(keys).map(
      (table) => sql`DELETE FROM ${table} WHERE key IN (SELECT number FROM keys WHERE account = ${account})`,
    ),
    ...ofAccount.map((table) => sql`DELETE FROM ${table} WHERE account = ${account}`),
  ];
}
