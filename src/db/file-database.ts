/** The database on a file that only this program writes. */
import type { SQLQueryBindings } from "bun:sqlite";
import { SQLiteSyncDialect } from "drizzle-orm/sqlite-core";
import { type Connection, type LeadDatabase, type Statement, WriteRefused } from "./connection.ts";
import { codeOf, underlying } from "./failure.ts";
import { openDatabase } from "./open.ts";

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
    close: () => connection.$client.close(),
  };
}

/** Runs one statement and gives the number of rows that it has changed. */
function run(connection: Connection, statement: Statement): number {
  const { sql, params } = "toSQL" in statement ? statement.toSQL() : new SQLiteSyncDialect().sqlToQuery(statement);
  const bindings = params as SQLQueryBindings[]; // Drizzle has turned each value into one that SQLite takes.
  return connection.$client.query<unknown, SQLQueryBindings[]>(sql).run(...bindings).changes;
}
