/** The database on a file that only this program writes. */
import type { SQLQueryBindings } from "bun:sqlite";
import { inArray } from "drizzle-orm";
import { SQLiteSyncDialect } from "drizzle-orm/sqlite-core";
import { UserError } from "../user-error.ts";
import { type Connection, type LeadDatabase, type Statement, WriteRefused } from "./connection.ts";
import { codeOf, underlying } from "./failure.ts";
import { removeStaleDrafts } from "./leftovers.ts";
import { openDatabase } from "./open.ts";
import { residues } from "./schema.ts";
import { vacuum } from "./vacuum.ts";
import { truncateWal } from "./wal.ts";

/** Opens the file at a path, created and migrated if need be. */
export function openFileDatabase(path: string): LeadDatabase {
  return databaseOn(openDatabase(path));
}

/** The database on a connection that is open already. */
export function databaseOn(connection: Connection): LeadDatabase {
  return {
    path: connection.$client.filename,
    read: connection,
    async write(statements) {
      const runAll = connection.$client.transaction(() => statements.map((statement) => run(connection, statement)));
      try {
        return runAll.immediate();
      } catch (failure) {
        const cause = underlying(failure);
        if (!codeOf(cause).startsWith("SQLITE_CONSTRAINT")) throw cause;
        throw new WriteRefused(cause instanceof Error ? cause.message : String(cause), { cause });
      }
    },
    catchUp: async () => {},
    removeResidualBytes: async () => removeResidualBytes(connection),
    close: () => connection.$client.close(),
  };
}

/** Readers end within moments; a backup or another program may take longer. */
const patienceMs = 15_000;

/**
 * Rewrites the file without anything that was deleted, and empties its log. Deleted pages may hold stale copies that SQLite
 * does not overwrite, so nothing else is certain. Killed, the next erasure, retention, or start completes it.
 */
function removeResidualBytes(connection: Connection): string[] {
  const left = connection.select({ number: residues.number }).from(residues).all();
  if (left.length === 0) return [];
  // A restore that was killed has left a copy of everything.
  removeStaleDrafts(connection.$client.filename);
  // While somebody reads the old state, the log cannot be emptied, and a rewritten file only makes it longer.
  if (!emptyLog(connection)) throw keptInUse();
  vacuum(connection);
  if (!emptyLog(connection)) throw keptInUse();
  const numbers = left.map(({ number }) => number);
  connection.delete(residues).where(inArray(residues.number, numbers)).run();
  return [];
}

function emptyLog(connection: Connection): boolean {
  const endMs = performance.now() + patienceMs;
  while (!truncateWal(connection)) {
    if (performance.now() > endMs) return false;
    Bun.sleepSync(50);
  }
  return true;
}

function keptInUse(): UserError {
  return new UserError(
    "The leads are erased, but their bytes stay in the log as long as another program reads the old state.",
    "Stop that program (a long query, a backup, or Litestream), and run the command again.",
  );
}

/** Runs one statement and gives the number of rows that it has changed. */
function run(connection: Connection, statement: Statement): number {
  const { sql, params } = "toSQL" in statement ? statement.toSQL() : new SQLiteSyncDialect().sqlToQuery(statement);
  const bindings = params as SQLQueryBindings[]; // Drizzle has turned each value into one that SQLite takes.
  return connection.$client.query<unknown, SQLQueryBindings[]>(sql).run(...bindings).changes;
}
