/** The open file, as Drizzle and underneath it Bun see it. */
import type { Database } from "bun:sqlite";
import type { BunSQLiteDatabase } from "drizzle-orm/bun-sqlite";

export type Connection = BunSQLiteDatabase & { readonly $client: Database };
