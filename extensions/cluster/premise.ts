/** What a transaction relies on: where it does not hold any more, nothing of the transaction goes in. */
import { type SQL, sql } from "drizzle-orm";
import { writes } from "../../src/db/schema.ts";
import type { Statement } from "./node/node.ts";
import { statementOf } from "./node/statement.ts";

/** A statement that fails where a condition is not true, and the transaction with it. */
export function premise(condition: SQL): Statement {
  // A column that takes no null.
  return statementOf(sql`INSERT INTO ${writes} (id) SELECT NULL WHERE (${condition}) IS NOT TRUE`);
}

/** To be sent right behind a statement, which is to have met so many rows. */
export function changed(count: number): Statement {
  return premise(sql`changes() = ${count}`);
}
