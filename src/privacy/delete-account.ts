/** Ends an account: nothing of it remains but its ID and the digests of its keys, so that they stay revoked. */
import { eq, getTableName, inArray, is, type SQL, sql } from "drizzle-orm";
import { getTableConfig, SQLiteTable } from "drizzle-orm/sqlite-core";
import { writeMoment } from "../contract/time.ts";
import { insertAct } from "../db/audit.ts";
import { type LeadDatabase, premise } from "../db/connection.ts";
import * as schema from "../db/schema.ts";
import { accounts, keys, leads, pixels } from "../db/schema.ts";
import { countLeads } from "./find.ts";
import { residueStatement } from "./retention.ts";
import type { SuppressedAccount } from "./suppressions.ts";

/** Deleting this many takes some 30 ms, and nobody waits longer for it. */
const leadsAtOnce = 500;

/** Proves the deletion of an account. A restore that knows it leaves the account out. */
export interface DeletionReceipt {
  readonly deleted_at: string;
  /** The ID of the account. */
  readonly account: string;
  readonly leads: number;
  /** SHA-256 of its keys, in hexadecimal digits. They answer `revoked_api_key` forever. */
  readonly keys: readonly string[];
}

/**
 * Deletes an account. Its keys are refused from the first step on; then its leads go, some at each step, and with the last
 * step everything else. Stopped and begun again, it completes.
 */
export async function* deleteAccount(
  database: LeadDatabase,
  { number, id }: SuppressedAccount,
  nowMs: number,
): AsyncGenerator<number, DeletionReceipt> {
  await database.catchUp();
  const { read } = database;
  const revoke = sql`UPDATE ${keys} SET revoked_at = ${nowMs} WHERE account = ${number} AND revoked_at IS NULL`;
  const end = read.update(accounts).set({ active: false }).where(eq(accounts.number, number));
  await database.write([revoke, end], "everywhere");
  await database.catchUp();
  const count = countLeads(read, number);
  let deleted = 0;
  for (;;) {
    const some = database.read.select({ number: leads.number }).from(leads).where(eq(leads.account, number));
    const numbers = some
      .limit(leadsAtOnce)
      .all()
      .map((row) => row.number);
    if (numbers.length === 0) break;
    await database.write([database.read.delete(leads).where(inArray(leads.number, numbers)), residueStatement(read)]);
    await database.catchUp();
    yield (deleted += numbers.length);
  }
  const digests = database.read.select({ digest: keys.digest }).from(keys).where(eq(keys.account, number)).all();
  await database.write(
    [
      sql`INSERT INTO deleted_accounts (id, deleted_at, leads) VALUES (${id}, ${nowMs}, ${count})`,
      sql`INSERT INTO deleted_keys (digest, account) SELECT digest, ${id} FROM keys WHERE account = ${number}`,
      ...rowStatements(number),
      read.delete(accounts).where(eq(accounts.number, number)),
      premise(sql`NOT EXISTS (SELECT 1 FROM accounts WHERE number = ${number})`),
      residueStatement(read),
      insertAct(read, { atMs: nowMs, act: "account.delete", account: id, detail: { leads: count } }),
    ],
    "everywhere",
  );
  return {
    deleted_at: writeMoment(nowMs),
    account: id,
    leads: count,
    keys: digests.map(({ digest }) => digest.toString("hex")),
  };
}

/** The statements that delete the rows of an account in all tables: those that belong to its keys first, then its own. */
export function rowStatements(account: number): SQL[] {
  const tables = Object.values<unknown>(schema).filter((table): table is SQLiteTable => is(table, SQLiteTable));
  const columnsTo = (table: SQLiteTable, owner: SQLiteTable) =>
    getTableConfig(table)
      .foreignKeys.map((key) => key.reference())
      .filter(({ foreignTable }) => foreignTable === owner)
      .flatMap(({ columns }) => columns.map(({ name }) => ({ table: getTableName(table), name })));
  const ofKeys = tables.flatMap((table) => columnsTo(table, keys));
  // An import that ran at the same time may have added leads. They refer to pixels.
  const last: SQLiteTable[] = [pixels, keys];
  const ofAccount = [...tables.filter((table) => !last.includes(table)), ...last].flatMap((table) =>
    columnsTo(table, accounts),
  );
  const named = ({ table, name }: { table: string; name: string }) =>
    sql`DELETE FROM ${sql.identifier(table)} WHERE ${sql.identifier(name)}`;
  return [
    ...ofKeys.map((column) => sql`${named(column)} IN (SELECT number FROM keys WHERE account = ${account})`),
    ...ofAccount.map((column) => sql`${named(column)} = ${account}`),
  ];
}
