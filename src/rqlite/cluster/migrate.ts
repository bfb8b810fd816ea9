/**
 * The schema of a cluster, brought up to this version by one command beside one node. Servers of the version before go on
 * meanwhile, which is why a migration may add to what is there and takes nothing away.
 */
import { sql } from "drizzle-orm";
import { pendingMigrations } from "../../sqlite/migrate.ts";
import { statementOf } from "../node/statement.ts";
import type { Writer } from "../writer.ts";

/** Makes what is missing, each migration whole; says how many there were. */
export function migrateCluster(writer: Writer): number {
  writer.catchUp();
  const pending = pendingMigrations(writer.file.current());
  for (const { statements, hash, madeMs } of pending) {
    const made = sql`INSERT INTO __drizzle_migrations (hash, created_at) VALUES (${hash}, ${madeMs})`;
    writer.commit([...statements.map((text) => ({ sql: text, json: "[]" })), statementOf(made)]);
  }
  return pending.length;
}
