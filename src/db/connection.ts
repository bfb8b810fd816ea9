/** The open file, as Drizzle and underneath it Bun see it. */
import type { Database } from "bun:sqlite";
import { sql } from "drizzle-orm";
import type { BunSQLiteDatabase } from "drizzle-orm/bun-sqlite";

export type Connection = BunSQLiteDatabase & { readonly $client: Database };

/** The same, for `using`: it is closed where the block ends. */
export function closing(database: Connection): Connection & Disposable {
  return Object.assign(database, { [Symbol.dispose]: () => database.$client.close() });
}

/** How many rows the last statement has inserted, changed or deleted. */
export function changedRows(database: Connection): number {
  return database.values<[number]>(sql`SELECT changes()`)[0]?.[0] ?? 0;
}
