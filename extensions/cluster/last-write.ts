/**
 * The last write of a cluster, by which a node is measured. A node whose disk was full goes on without what it could not
 * write, and rqlite says nothing of it. But the rows of writes are numbered: where one is missing, all that follow have
 * other numbers than elsewhere.
 */
import { eq, type SQL, sql } from "drizzle-orm";
import type { Connection } from "../../src/db/connection.ts";
import { writes } from "../../src/db/schema.ts";
import { ask, questionRequest, type RqliteNode, readValue } from "./node/node.ts";
import { statementOf } from "./node/statement.ts";

const timeoutMs = 3_000;

export interface LastWrite {
  /** The number of its row, which goes up, and stays whatever a node does to its file. */
  readonly number: number;
  readonly id: string;
}

/** Asks for it as one text; no row where no write is remembered. */
export const lastWrite: SQL = sql`SELECT number || ' ' || id FROM ${writes} ORDER BY number DESC LIMIT 1`;

/** What such a text says. */
export function readLastWrite(text: unknown): LastWrite | null {
  if (typeof text !== "string") return null;
  const [number, id = ""] = text.split(" ");
  return { number: Number(number), id };
}

/** Prepares the look at the number that a file has for a write; undefined where it does not show it. */
export function openNumberOf(database: Connection): (id: string) => number | undefined {
  const number = database
    .select({ number: writes.number })
    .from(writes)
    .where(eq(writes.id, sql.placeholder("id")))
    .prepare();
  return (id) => number.get({ id })?.number;
}

/** The one that a node shows itself; null where it does not answer, or has no tables yet as it joins. */
export async function askLastWrite(node: RqliteNode): Promise<LastWrite | null> {
  try {
    return readLastWrite(readValue(await ask(questionRequest(node, statementOf(lastWrite), "none", timeoutMs))));
  } catch {
    return null;
  }
}
