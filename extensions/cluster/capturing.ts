/**
 * A connection that reads the file of the own node and writes into the cluster. What finds and erases people, applies
 * retention and keeps the record runs on it as on a file. What a transaction writes is collected, and goes out at its
 * end. Until then the transaction does not see it.
 */
import type { Database, Statement as Prepared, SQLQueryBindings } from "bun:sqlite";
import { drizzle } from "drizzle-orm/bun-sqlite";
import type { Connection } from "../../src/db/connection.ts";
import type { LocalFile } from "./local-file.ts";
import type { Statement } from "./node/node.ts";
import { bind } from "./node/statement.ts";
import { changed } from "./transaction.ts";
import { type Writer, wentIn } from "./writer.ts";

type Values = SQLQueryBindings[];
type Reading = Prepared<unknown, Values>;

/** The file of the own node, as it lies there now. */
export type ReadFile = Pick<LocalFile, "path" | "current">;

/** Has the file, and gets all that a transaction has written, or one statement outside of a transaction. */
type Outlet = Pick<Writer, "commit" | "catchUp"> & { readonly file: ReadFile };

/** A transaction is begun again so often where somebody else has written what it has read. */
const mostTries = 50;

/** Leads are deleted one by one. */
const deletedOne = changed(1);

export function openCapturing(outlet: Outlet): Connection {
  const { file } = outlet;
  /** What the transaction has written until now; null outside of one. */
  let collected: Statement[] | null = null;

  function write(text: string, values: Values): { changes: number; lastInsertRowid: number } {
    const statements = [bind(text, values), ...(deletesLead(text) ? [deletedOne] : [])];
    if (collected === null) outlet.commit(statements);
    else collected.push(...statements);
    // Nobody knows yet how many rows it meets.
    return { changes: Number.NaN, lastInsertRowid: Number.NaN };
  }

  function collect(work: () => void): readonly Statement[] {
    if (collected !== null) throw new Error("a transaction of a cluster has none within it");
    collected = [];
    const statements = collected;
    try {
      work();
    } finally {
      collected = null;
    }
    return statements;
  }

  /** Works anew where a lead to delete is not any more what was read. */
  function transact(work: () => void): void {
    const send = () => {
      const statements = collect(work);
      if (statements.length > 0) outlet.commit(statements);
    };
    for (let tries = 1; tries < mostTries; tries++) if (wentIn(send)) return;
    send();
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

function deletesLead(text: string): boolean {
  return text.startsWith('delete from "stored_leads"');
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
