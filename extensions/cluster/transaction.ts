/**
 * The transactions of a cluster. Each one leaves a row with a random ID, so that it can be sent again when its outcome is
 * unknown, and is applied once. A node whose disk was full continues without what it could not write, and rqlite does not
 * report it. The rows form a chain, which shows on which node one is missing.
 */
import { eq, sql } from "drizzle-orm";
import { randomText } from "../../src/contract/key.ts";
import { type Connection, type Statement, WriteRefused } from "../../src/db/connection.ts";
import { execute, query, type RqliteNode } from "./node.ts";
import { flushes, revision, tableStatements, writes } from "./tables.ts";

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

/** Returns a random ID for a transaction. */
export const transactionId = () => randomText(20);

/** Creates the tables that are missing, as in a cluster of an earlier version. No transaction can be numbered before. */
export async function createTables(node: RqliteNode): Promise<void> {
  await execute(node, tableStatements.map(sql.raw), 10_000);
}

/** Deleted bytes are overwritten. A node forgets this setting at each start, so it is sent with every transaction. */
const overwriting = sql`PRAGMA secure_delete = ON`;

/** Increments what every node has to show before it may serve. */
export const incrementRevision = sql`INSERT INTO ${revision} (number, count) VALUES (1, 1)
  ON CONFLICT (number) DO UPDATE SET count = count + 1`;

/** Completes the statements of a transaction. Every write of Leadfile into a cluster is made by this function. */
export function transactionOf(id: string, statements: readonly Statement[]): Statement[] {
  const last = sql`(SELECT ${writes.chain} FROM ${writes} ORDER BY number DESC LIMIT 1)`;
  const link = sql`(coalesce(${last}, 0) * 31 + ${Bun.hash.crc32(id)}) % ${sql.raw(String(chainModulus))}`;
  const remember = sql`INSERT INTO ${writes} (id, chain) VALUES (${id}, ${link})`;
  // A server that was cut off for a day sends its last flush again.
  const forget = sql`DELETE FROM ${writes} WHERE number <= (SELECT max(number) FROM ${writes}) - ${maxRemembered}
    AND id NOT IN (SELECT id FROM ${flushes})`;
  return [overwriting, remember, forget, ...statements];
}

/** Sends a transaction once. Throws like `execute`. It may be sent again under the same ID, and is applied once. */
export async function send(node: RqliteNode, id: string, statements: readonly Statement[], timeoutMs: number) {
  try {
    await execute(node, transactionOf(id, statements), timeoutMs);
  } catch (cause) {
    // It was applied before, and the answer was lost.
    const isApplied = cause instanceof WriteRefused && cause.message.includes("constraint failed: cluster_writes.id");
    if (!isApplied) throw cause;
  }
}

/** Selects the last transaction as JSON; null if there is none. */
const lastPosition = `(SELECT json_object('id', id, 'chain', chain, 'number', number)
  FROM cluster_writes ORDER BY number DESC LIMIT 1)`;

/** The JSON array that a node returns when its position is queried. */
type Answered = [revision: number, last: Position | null, chainAtOwn: number | null, nowMs: number, isListed: 0 | 1];

/** Asks a node for its position, its clock, and whether it lists the process that serves. Throws if it does not answer. */
export async function askPosition(
  node: RqliteNode,
  own: Position | null,
  withinMs: number,
  level: "strong" | "linearizable" | "none" = "none",
  process = "",
) {
  const sentMs = Date.now();
  const state = sql`SELECT json_array((SELECT coalesce(max(count), 0) FROM cluster_revision), json(${sql.raw(lastPosition)}),
    (SELECT chain FROM cluster_writes WHERE id = ${own?.id ?? ""}), unixepoch('subsec') * 1000,
    EXISTS (SELECT 1 FROM cluster_nodes WHERE name = ${node.name} AND process = ${process} AND leaving = 0))`;
  // The query selects this shape.
  const [revision, last, chainAtOwn, nowMs, isListed]: Answered = JSON.parse(
    String(await query(node, state, level, withinMs)),
  );
  return { revision, last, chainAtOwn, clockOffMs: nowMs - (sentMs + Date.now()) / 2, isListed: isListed === 1 };
}

/** The transactions that a file shows. */
export type ShownWrites = ReturnType<typeof openShownWrites>;

/** Prepares the queries for the transactions that a file shows. Throws if the file has no tables yet. */
export function openShownWrites(database: Connection) {
  const count = database.select({ count: revision.count }).from(revision).prepare();
  const one = database
    .select({ chain: writes.chain })
    .from(writes)
    .where(eq(writes.id, sql.placeholder("id")))
    .prepare();
  const last = database.$client.prepare<{ last: string | null }, []>(`SELECT ${lastPosition} AS last`);
  return {
    /** The number of writes that must be effective on every node. */
    revision: () => count.get()?.count ?? 0,
    /** The chain at a transaction; undefined if the file does not show it. */
    chainOf: (id: string) => one.get({ id })?.chain,
    /** The last transaction; null if there is none. */
    lastPosition: (): Position | null => JSON.parse(last.get()?.last ?? "null"), // The query selects this shape.
  };
}
