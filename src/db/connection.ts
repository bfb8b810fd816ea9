/**
 * The open database. `LeadDatabase` is the seam of the core: what it needs from a database that somebody else may
 * write, such as the local rqlite node of a cluster. open.ts implements it on the file.
 */
import { Database, type SQLQueryBindings } from "bun:sqlite";
import { dirname } from "node:path";
import { type SQL, type SQLWrapper, sql } from "drizzle-orm";
import { type BunSQLiteDatabase, drizzle } from "drizzle-orm/bun-sqlite";
import { SQLiteSyncDialect } from "drizzle-orm/sqlite-core";
import { UserError } from "../runtime/user-error.ts";

/** The SQLite file, as Drizzle and Bun see it. */
export type Connection = BunSQLiteDatabase & { readonly $client: Database };

/** A query that Drizzle has built and nobody has run yet. */
export type Statement = SQLWrapper;

/** `everywhere` also waits until no server of a cluster answers from before the write, as after a revocation. */
export type WriteScope = "local" | "everywhere";

/** A database of leads: a file of this program alone, or the one of a local rqlite node, which is written through the cluster. */
export interface LeadDatabase {
  /** The path of the SQLite file. */
  readonly path: string;
  /** Drizzle on the file, for reading only. A cluster may replace the file: ask for it anew for each operation. */
  readonly read: Connection;
  /**
   * Runs statements in one transaction that is on the disk, and shown by `read`, when the promise resolves. Throws
   * WriteRefused if one of them violates a constraint; then nothing is written, and `read` shows what others have written.
   */
  write(statements: readonly Statement[], scope?: WriteScope): Promise<void>;
  /**
   * Writes the batches that `next` makes, until it returns null, and yields the number of leads in those that are on the disk.
   * Each batch is written as a whole.
   */
  writeBatches(next: NextBatch): AsyncGenerator<number, number>;
  /** Resolves when `read` shows all that any server has written until now. Throws DatabaseUnavailable if it cannot in time. */
  catchUp(withinMs?: number): Promise<void>;
  /**
   * Removes the bytes of deleted leads from the database, as far as this program can, and gives the names of what still has
   * them: the nodes of a cluster whose logs have to be scrubbed; nothing of a file. Throws a UserError if another program
   * keeps reading the old state.
   */
  removeResidualBytes(): Promise<readonly string[]>;
  close(): void;
}

/** A part of long work: its statements, the number of its leads, and the time of the last one. */
export interface Batch {
  readonly statements: readonly Statement[];
  readonly leads: number;
  readonly lastMs: number;
}

/** Returns the next batch, of at most `max` leads that are not older than `fromMs`, the end of the batch before; null if nothing is left. */
export type NextBatch = (read: Connection, fromMs: number, max: number) => Batch | null;

/** The database cannot be read or written now, as while a cluster has no leader. The same call may succeed later. */
export class DatabaseUnavailable extends UserError {
  override readonly name: string = "DatabaseUnavailable";
}

/** A statement violated a constraint, so that its transaction was rolled back. */
export class WriteRefused extends Error {
  override readonly name = "WriteRefused";
}

/** Writes statements like `write`. Returns false if they violate a constraint, as a name that is taken does. */
export async function tryToWrite(database: LeadDatabase, statements: readonly Statement[]): Promise<boolean> {
  try {
    await database.write(statements);
    return true;
  } catch (cause) {
    if (cause instanceof WriteRefused) return false;
    throw cause;
  }
}

/** A statement that fails if a condition does not hold when the transaction is written, and the transaction with it. */
export function assertInTransaction(condition: SQL): Statement {
  // A column that takes no null.
  return sql`INSERT INTO audit (act) SELECT NULL WHERE (${condition}) IS NOT TRUE`;
}

/** A statement that fails unless the previous one changed exactly this number of rows. */
export function changedExactly(rows: number): Statement {
  return assertInTransaction(sql`changes() = ${rows}`);
}

/** Opens a file as it is, without a look at its content, until the end of the block that uses it. */
export function connectTo(path: string, mode: number | "readonly" | "readwrite"): Connection & Disposable {
  const options = typeof mode === "number" ? mode : { [mode]: true };
  return closing(drizzle({ client: new Database(path, options) }));
}

/** Makes a connection usable with `using`: at the end of the block, it is closed with all its statements, and its file with it. */
export function closing(database: Connection): Connection & Disposable {
  return Object.assign(database, { [Symbol.dispose]: () => database.$client.close(true) });
}

/** The number of rows that the last statement has inserted, changed, or deleted. */
export function changedRows(database: Connection): number {
  return database.values<[number]>(sql`SELECT changes()`)[0]?.[0] ?? 0;
}

/**
 * Does work for which SQLite may need as much space as the file has: in temporary files next to the file, which have no name
 * once they are open. A container may have no other place to write, and personal data stays on its disk.
 */
export function withTemporaryFiles(database: Connection, work: () => void): void {
  const client = database.$client;
  client.run(`PRAGMA temp_store_directory = '${dirname(client.filename).replaceAll("'", "''")}'`);
  client.run("PRAGMA temp_store = FILE");
  try {
    work();
  } finally {
    client.run("PRAGMA temp_store = MEMORY");
  }
}

/** Runs a statement at once. */
export function runStatement(connection: Connection, statement: Statement): void {
  const { sql, params } = new SQLiteSyncDialect().sqlToQuery(statement.getSQL());
  const bindings = params as SQLQueryBindings[]; // Drizzle has turned each value into one that SQLite takes.
  connection.$client.query<unknown, SQLQueryBindings[]>(sql).run(...bindings);
}
