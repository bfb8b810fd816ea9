/**
 * A connection that reads from the file of the own node and writes into the cluster: what looks after people, retention and the
 * record runs on it as on a file. What a transaction writes is collected and goes out as one; until then it is not seen.
 */
import type { Database, Statement as Prepared, SQLQueryBindings } from "bun:sqlite";
import { drizzle } from "drizzle-orm/bun-sqlite";
import type { Connection } from "../sqlite/connection.ts";
import type { LocalFile } from "./local-file.ts";
import type { Statement } from "./node/node.ts";
import { bind } from "./node/statement.ts";

type Values = SQLQueryBindings[];
type Reading = Prepared<unknown, Values>;

/** The file of the own node, as it lies there now. */
export type ReadFile = Pick<LocalFile, "path" | "current">;

export function openCapturing(file: ReadFile, commit: (statements: readonly Statement[]) => void): Connection {
  /** What the transaction has written until now; null outside of one. */
  let collected: Statement[] | null = null;

  function write(text: string, values: Values): { changes: number; lastInsertRowid: number } {
    const statement = bind(text, values);
    if (collected === null) commit([statement]);
    else collected.push(statement);
    // Nobody knows yet how many rows it meets.
    return { changes: Number.NaN, lastInsertRowid: Number.NaN };
  }

  function transact(work: () => void): void {
    if (collected !== null) throw new Error("a transaction of a cluster has none within it");
    collected = [];
    const statements = collected;
    try {
      work();
    } finally {
      collected = null;
    }
    if (statements.length > 0) commit(statements);
  }

  const client = {
    filename: file.path,
    prepare: (text: string) => (isWrite(text) ? prepareWrite(text, write) : prepareRead(text, file)),
    transaction(work: () => void) {
      const run = () => transact(work);
      return { deferred: run, immediate: run, exclusive: run };
    },
    close: () => {},
  };
  // Drizzle asks no more of a client than what is here.
  return drizzle({ client: client as unknown as Database });
}

function isWrite(text: string): boolean {
  return /^\s*(?:insert|update|delete|replace)\b/i.test(text);
}

function prepareWrite(text: string, write: (text: string, values: Values) => unknown) {
  const refuse = () => {
    throw new Error("a write into a cluster gives back no rows");
  };
  return { run: (...values: Values) => write(text, values), all: refuse, get: refuse, values: refuse };
}

/** Prepared again for each file that the node puts in the place of the one before. */
function prepareRead(text: string, file: ReadFile) {
  let prepared: { readonly on: Connection; readonly statement: Reading } | null = null;
  function statement(): Reading {
    const on = file.current();
    if (prepared?.on !== on) prepared = { on, statement: on.$client.prepare<unknown, Values>(text) };
    return prepared.statement;
  }
  return {
    run: (...values: Values) => statement().run(...values),
    all: (...values: Values) => statement().all(...values),
    get: (...values: Values) => statement().get(...values),
    values: (...values: Values) => statement().values(...values),
  };
}
