/** Fills a database before an attack, and reads it afterwards. */
import { Database } from "bun:sqlite";
import type { LeadDatabase } from "../../../src/db/connection.ts";
import { someLeads } from "../../../test/support/builders.ts";
import { aKey, anAccount, openTestDatabase } from "../../../test/support/database.ts";

export type Key = ReturnType<typeof aKey>;
export type Keys = readonly [Key, ...Key[]];

/** Creates or changes a database with the functions of the product, and leaves it without a write-ahead log. */
export function prepare<Result>(file: string, work: (database: LeadDatabase) => Result): Result {
  const database = openTestDatabase(file);
  const result = work(database);
  database.close();
  look(file, (database) => database.run("PRAGMA wal_checkpoint(TRUNCATE)"));
  return result;
}

/** Creates a file with the account acme and a number of leads and keys. Returns the keys. */
export function prepareKeys(file: string, leadCount: number, keyCount = 1): Keys {
  return prepare(file, (database) => {
    const account = anAccount(database, { name: "acme", leads: someLeads(leadCount) });
    return [aKey(database, account), ...Array.from({ length: keyCount - 1 }, () => aKey(database, account))];
  });
}

/** Opens a file as any SQLite tool would, and reads it. Throws if the file is damaged too much for that. */
export function look<Result>(
  file: string,
  read: (database: Database) => Result,
  how: "as any tool" | "read-only" = "as any tool",
): Result {
  const database = new Database(file, how === "read-only" ? { readonly: true } : { readwrite: true });
  try {
    // The first reader after a kill recovers the write-ahead log, and locks the file meanwhile.
    database.run("PRAGMA busy_timeout = 10000");
    return read(database);
  } finally {
    database.close();
  }
}

/** Returns whether a file is intact. */
export function isWhole(database: Database): boolean {
  const said = database.query<{ integrity_check: string }, []>("PRAGMA integrity_check").all();
  return said.length === 1 && said[0]?.integrity_check === "ok";
}

/** All documents as they are served, oldest first. */
export function documentsOf(database: Database): string[] {
  const rows = database
    .query<{ doc: string }, []>("SELECT doc FROM stored_leads ORDER BY account, identified_at")
    .all();
  return rows.map(({ doc }) => doc);
}
