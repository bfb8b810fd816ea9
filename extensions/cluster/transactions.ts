/**
 * The transactions of a cluster, and the tables that only a cluster has. Each transaction leaves a row with a random ID, so that
 * it can be sent again when its outcome is unknown, and is applied once. A node whose disk was full continues without what it
 * could not write, and rqlite does not report it. The rows form a chain, which shows on which node one is missing.
 */
import { sql } from "drizzle-orm";
import { randomText } from "../../src/contract/key.ts";
import type { Connection, Statement } from "../../src/db/connection.ts";
import { execute, query, type RqliteNode } from "./node.ts";

/** The statements that create missing tables, for example in a cluster of an earlier version. */
export const tableStatements: readonly string[] = Object.entries({
  // One row with a counter that each write for all nodes increments, such as a revocation.
  revision: "number INTEGER PRIMARY KEY, count INTEGER NOT NULL",
  // The latest transactions. The chain is a checksum over their IDs: it differs on a node that lacks one of them.
  writes: "number INTEGER PRIMARY KEY, id TEXT UNIQUE NOT NULL, chain INTEGER NOT NULL",
  // The last transaction of each server with counts, and the keys that it counted in that minute since 1970, as a JSON list of
  // their numbers: a balancer sends each key to one node.
  last_flushes: "node TEXT PRIMARY KEY NOT NULL, id TEXT NOT NULL, minute INTEGER NOT NULL, keys TEXT NOT NULL",
  // The servers by the -node-id of their nodes: each with the version of Leadfile, and the random name of the one process that
  // may serve. A server without a row gets no lease, and a revocation waits for each server with one.
  nodes: `name TEXT PRIMARY KEY NOT NULL, url TEXT NOT NULL, version TEXT NOT NULL, process TEXT NOT NULL,
    started_at INTEGER NOT NULL, leaving INTEGER NOT NULL`,
  // Locks that hold on all machines. Another node may take one after it has expired: its holder may have been killed.
  locks: "name TEXT PRIMARY KEY NOT NULL, holder TEXT NOT NULL, expires_at INTEGER NOT NULL",
}).map(([name, columns]) => `CREATE TABLE IF NOT EXISTS cluster_${name} (${columns}) STRICT`);

/** The number of remembered transactions: those of an import of several hours. A time limit would need correct clocks. */
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

/** Creates the tables that are missing. Call it before the first transaction, which is numbered in one of them. */
export async function createTables(node: RqliteNode): Promise<void> {
  await execute(node, tableStatements.map(sql.raw), 10_000);
}

/** Increments the number of writes that hold on every node at once. */
export const incrementRevision = sql`INSERT INTO cluster_revision (number, count) VALUES (1, 1)
  ON CONFLICT (number) DO UPDATE SET count = count + 1`;

/** The number of writes that hold on every node at once. */
export const revisionNow = sql.raw("(SELECT coalesce(max(count), 0) FROM cluster_revision)");

/** Completes the statements of a transaction. Every write of Leadfile to a cluster uses this function. */
export function transactionOf(id: string, statements: readonly Statement[]): Statement[] {
  const last = sql`(SELECT chain FROM cluster_writes ORDER BY number DESC LIMIT 1)`;
  const link = sql`(coalesce(${last}, 0) * 31 + ${Bun.hash.crc32(id)}) % ${sql.raw(String(chainModulus))}`;
  return [
    // Deleted bytes are overwritten. A node forgets this setting at each start, so it is sent with every transaction.
    sql`PRAGMA secure_delete = ON`,
    sql`INSERT INTO cluster_writes (id, chain) VALUES (${id}, ${link})`,
    // A server that was cut off for a day sends its last flush again.
    sql`DELETE FROM cluster_writes WHERE number <= (SELECT max(number) FROM cluster_writes) - ${maxRemembered}
      AND id NOT IN (SELECT id FROM cluster_last_flushes)`,
    ...statements,
  ];
}

/** Selects the last transaction as JSON; null if there is none. */
const lastPosition = `(SELECT json_object('id', id, 'chain', chain, 'number', number)
  FROM cluster_writes ORDER BY number DESC LIMIT 1)`;

/** The JSON array that a node returns when its position is queried. */
type Answered = [last: Position | null, chainAtOwn: number | null, nowMs: number, isListed: 0 | 1];

/**
 * Asks a node for its position and its clock, whether it lists the process that serves, and for its chain at a transaction of
 * this node. Throws if it does not answer.
 */
export async function askPosition(
  node: RqliteNode,
  withinMs: number,
  level: "strong" | "linearizable" | "none" = "none",
  process = "",
  own: Position | null = null,
) {
  const sentMs = Date.now();
  const state = sql`SELECT json_array(json(${sql.raw(lastPosition)}),
    (SELECT chain FROM cluster_writes WHERE id = ${own?.id ?? ""}), unixepoch('subsec') * 1000,
    EXISTS (SELECT 1 FROM cluster_nodes WHERE name = ${node.name} AND process = ${process} AND leaving = 0))`;
  // The query selects this shape.
  const [last, chainAtOwn, nowMs, isListed]: Answered = JSON.parse(String(await query(node, state, level, withinMs)));
  return { last, chainAtOwn, clockOffMs: nowMs - (sentMs + Date.now()) / 2, isListed: isListed === 1 };
}

/** The transactions that a file shows. */
export type ShownWrites = ReturnType<typeof openShownWrites>;

/** Prepares the queries for the transactions that a file shows. Throws if the file has no tables yet. */
export function openShownWrites({ $client }: Connection) {
  const count = $client.prepare<{ count: number }, []>("SELECT max(count) AS count FROM cluster_revision");
  const one = $client.prepare<{ chain: number }, [string]>("SELECT chain FROM cluster_writes WHERE id = ?");
  const last = $client.prepare<{ last: string | null }, []>(`SELECT ${lastPosition} AS last`);
  return {
    /** The number of writes that hold on every node at once. */
    revision: () => count.get()?.count ?? 0,
    /** The chain at a transaction; undefined if the file does not show it. */
    chainOf: (id: string) => one.get(id)?.chain,
    /** The last transaction; null if there is none. */
    lastPosition: (): Position | null => JSON.parse(last.get()?.last ?? "null"), // The query selects this shape.
  };
}

/** A server as the cluster lists it. */
interface ListedServer {
  readonly name: string;
  readonly url: string;
  readonly version: string;
}

/** Lists the servers of a cluster, by name. */
export function listServers(file: Connection): ListedServer[] {
  return file.all<ListedServer>(sql`SELECT name, url, version FROM cluster_nodes ORDER BY name`);
}
