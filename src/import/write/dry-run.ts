/** A dry run: the same statements as those of an import, on tables of its own. */
import { sql } from "drizzle-orm";
import type { Connection } from "../../db/connection.ts";
import type { Portions } from "../../db/locks/large-transactions.ts";
import type { AccountNumber } from "../../store/reading.ts";

/**
 * Puts temporary tables in front of those that an import writes to: SQLite takes a temporary table for one of the
 * same name in the file, so that a dry run runs the very same statements and is forgotten with the connection.
 */
export function shadowTables(database: Connection, account: AccountNumber): void {
  database.run(sql`
    CREATE TEMP TABLE stored_leads (
      number INTEGER PRIMARY KEY, account INTEGER, identified_at INTEGER, uuid BLOB, pixel INTEGER, state TEXT,
      city_key TEXT, has_email INTEGER, import INTEGER, doc TEXT, UNIQUE (account, identified_at), UNIQUE (account, uuid)
    )`);
  database.run(sql`
    INSERT INTO temp.stored_leads (account, identified_at, uuid)
    SELECT account, identified_at, uuid FROM main.stored_leads WHERE account = ${account}`);
  database.run(sql`
    CREATE TEMP TABLE pixels (
      number INTEGER PRIMARY KEY, account INTEGER, id TEXT, status TEXT, created_at INTEGER, UNIQUE (account, id)
    )`);
  database.run(sql`INSERT INTO temp.pixels SELECT * FROM main.pixels WHERE account = ${account}`);
}

/** A dry run writes to tables of its own, and needs no lock; a transaction spares it a journal for each lead. */
export function* runDry(database: Connection, { begin, step, end }: Portions): Generator<void> {
  begin();
  for (let isDone = false; !isDone; ) {
    isDone = !database.transaction(step, { behavior: "deferred" });
    end(isDone);
    yield;
  }
}
