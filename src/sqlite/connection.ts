/** The open file, as Drizzle and underneath it Bun see it. */
import type { Database } from "bun:sqlite";
import type { BunSQLiteDatabase } from "drizzle-orm/bun-sqlite";

export type Connection = BunSQLiteDatabase & { readonly $client: Database };

/** The same, for `using`: it is closed where the block ends. */
export function closing(database: Connection): Connection & Disposable {
  return Object.assign(database, { [Symbol.dispose]: () => database.$client.close() });
}
