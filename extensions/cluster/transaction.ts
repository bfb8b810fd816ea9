/**
 * The transactions of a cluster. Each one leaves a row with a random ID, so that it can be sent again when its outcome is
 * unknown, and is applied once. A node whose disk was full continues without what it could not write, and rqlite does not
 * report it. The rows form a chain, which shows on which node one is missing.
 */
import { eq, type SQL, sql } from "drizzle-orm";
import type { Connection } from "../../src/db/connection.ts";
import { ask, handOverLeadership, type RqliteNode, readWritten, type Statement, writeRequest } from "./node/node.ts";
import { statementOf } from "./node/statement.ts";
import { revision, writes } from "./tables.ts";

/** The number of transactions that are remembered, which are hours of an import. A time limit would need correct clocks. */
const maxRemembered = 100_000;
/** A prime below 2^48: a sum of 31 chains and a checksum remains an integer for both SQLite and JavaScript. */
const chainModulus = 281_474_976_710_597;

/** A transaction as one node has it. */
export interface Position {
  readonly id: string;
  readonly chain: number;
  /** Numbers the transactions from 1. */
  readonly number: number;
}

/** Deleted bytes are overwritten. A node forgets this setting at each start, so it is sent with every transaction. */
const overwriting: Statement = { sql: "PRAGMA secure_delete = ON", json: "[]" };

/** Increments what every node has to show before it may serve. */
export const incrementRevision = statementOf(
  sql`INSERT INTO ${revision} (number, count) VALUES (1, 1) ON CONFLICT (number) DO UPDATE SET count = count + 1`,
);

/** Completes the statements of a transaction. Every write of Leadfile into a cluster is made by this function. */
export function transactionOf(id: string, statements: readonly Statement[]): Statement[] {
  const last = sql`(SELECT ${writes.chain} FROM ${writes} ORDER BY number DESC LIMIT 1)`;
  const link = sql`(coalesce(${last}, 0) * 31 + ${Bun.hash.crc32(id)}) % ${sql.raw(String(chainModulus))}`;
  const remember = sql`INSERT INTO ${writes} (id, chain) VALUES (${id}, ${link})`;
  const forget = sql`DELETE FROM ${writes} WHERE number <= (SELECT max(number) FROM ${writes}) - ${maxRemembered}`;
  return [overwriting, ...[remember, forget].map(statementOf), ...statements];
}

/** The number of statements that transactionOf puts first. */
const leading = 3;
const noteChanged: Statement = {
  sql: `UPDATE cluster_writes SET changed = changed || changes() || ' '
    WHERE number = (SELECT max(number) FROM cluster_writes)`,
  json: "[]",
};

/**
 * Has the transaction record the number of rows that each statement changes: the answer with these numbers may be lost. A
 * statement that asks for changes() itself has to follow the statement before it directly.
 */
export function notingChanges(statements: readonly Statement[]): Statement[] {
  return statements.flatMap((statement, place) => {
    const isAsked = statements[place + 1]?.sql.includes("changes()") ?? false;
    return isAsked ? [statement] : [statement, noteChanged];
  });
}

/** The numbers that an answer to a transaction with `notingChanges` has for its statements. */
export function changesIn(answered: readonly number[], statements: readonly Statement[]): number[] {
  const sent = notingChanges(statements);
  return answered.slice(leading).filter((_, place) => sent[place] !== noteChanged);
}

/** The numbers that the transaction has recorded; null for a transaction that could not record all of them. */
export function changesNoted(database: Connection, id: string, statements: readonly Statement[]): number[] | null {
  const noted = database.select({ changed: writes.changed }).from(writes).where(eq(writes.id, id)).get();
  const numbers = noted?.changed.trim().split(" ").filter(Boolean).map(Number) ?? [];
  return numbers.length === statements.length ? numbers : null;
}

/** A statement that fails unless a condition is true, and its transaction with it. */
export function premise(condition: SQL): Statement {
  // The column takes no null.
  return statementOf(sql`INSERT INTO ${writes} (id, chain) SELECT NULL, 0 WHERE (${condition}) IS NOT TRUE`);
}

/** The premise that the statement right before has changed this many rows. */
export function changed(count: number): Statement {
  return premise(sql`changes() = ${count}`);
}

/** Whether SQLite refused a transaction because it was applied before: the answer to an earlier try was lost. */
export function isApplied(reason: string): boolean {
  return reason.includes("UNIQUE constraint failed: cluster_writes.id");
}

/** Sends a transaction. Throws if it is not applied for sure: it can be sent again under the same ID. */
export async function sendTransaction(
  node: RqliteNode,
  id: string,
  statements: readonly Statement[],
  timeoutMs: number,
): Promise<void> {
  const written = readWritten(await ask(writeRequest(node, transactionOf(id, statements), timeoutMs)));
  if (written.kind === "done" || (written.kind === "refused" && isApplied(written.reason))) return;
  // The other nodes have applied what the leader could not.
  if (written.kind === "unknown" && written.isLeaderFault) await handOverLeadership(node);
  throw new Error(written.reason);
}

/** Selects the last transaction as JSON; null if there is none. */
export const lastPosition: SQL = sql`(SELECT json_array(id, chain, number) FROM ${writes} ORDER BY number DESC LIMIT 1)`;

/** Reads what `lastPosition` selects, which SQLite gives as a text, or as an array within another one. */
export function readPosition(value: unknown): Position | null {
  const selected: unknown = typeof value === "string" ? JSON.parse(value) : value;
  if (!Array.isArray(selected)) return null;
  const [id, chain, number]: [string, number, number] = selected as [string, number, number]; // As lastPosition selects it.
  return { id, chain, number };
}

/** Prepares the lookup of the chain at a transaction; undefined if the file does not show the transaction. */
export function openChainOf(database: Connection): (id: string) => number | undefined {
  const chain = database
    .select({ chain: writes.chain })
    .from(writes)
    .where(eq(writes.id, sql.placeholder("id")))
    .prepare();
  return (id) => chain.get({ id })?.chain;
}

/** Prepares the count of the revision. */
export function openRevision(database: Connection): () => number {
  const count = database.select({ count: revision.count }).from(revision).prepare();
  return () => count.get()?.count ?? 0;
}

/** Prepares the last transaction of a file. */
export function openLastPosition(database: Connection): () => Position | null {
  const last = database
    .select({ last: sql`${lastPosition}` })
    .from(sql`(SELECT 1)`)
    .prepare();
  return () => readPosition(last.get()?.last);
}
