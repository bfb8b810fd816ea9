/** The connection of a writer: how long it waits for a lock, and how it requests one that is taken (lock-requests.ts). */
import { Database, type SQLQueryBindings } from "bun:sqlite";
import { closeSync, constants, existsSync, openSync, writeSync } from "node:fs";
import type { Connection } from "../connection.ts";
import { lockRequestsOf } from "../database-files.ts";
import { isLocked } from "../failure.ts";

/** A writer that waits requests the lock this often. When no more requests come, nobody waits. */
export const requestEveryMs = 4;

/** The time that each kind of program waits for a lock that another one holds, in milliseconds. */
export const lockWaitMs = {
  /** A command, or the start of the server, behind another writer. */
  toWrite: 10_000,
  /** A new server behind one that was told to stop. */
  toServe: 1_000,
  /** A program that only looks at a file, or would replace it. */
  toLook: 2_000,
} as const;

/** Does something that must not wait for other programs: it fails when the file is locked. */
export function withoutWaiting<Result>(database: Connection, work: () => Result): Result {
  database.$client.run("PRAGMA busy_timeout = 0");
  try {
    return work();
  } finally {
    database.$client.run(`PRAGMA busy_timeout = ${lockWaitMs.toWrite}`);
  }
}

/** A connection that requests the lock where it finds it taken. Otherwise SQLite waits as usual. */
export class RequestingDatabase extends Database {
  override prepare<Row, Bindings extends SQLQueryBindings | SQLQueryBindings[]>(text: string, bindings?: Bindings) {
    const statement = super.prepare<Row, Bindings>(text, bindings);
    if (/^\s*(?:insert|update|delete)\b/i.test(text)) {
      const { run, all, get, values } = statement;
      statement.run = (...given) => writeWhenFree(this, () => run.apply(statement, given));
      statement.all = (...given) => writeWhenFree(this, () => all.apply(statement, given));
      statement.get = (...given) => writeWhenFree(this, () => get.apply(statement, given));
      statement.values = (...given) => writeWhenFree(this, () => values.apply(statement, given));
    }
    return statement;
  }

  override transaction<Given extends unknown[], Result>(work: (...given: Given) => Result) {
    const made = super.transaction<Given, Result>(work);
    const { deferred, exclusive } = made;
    const immediate = (...given: Given): Result => writeWhenFree(this, () => made.immediate(...given));
    return Object.assign((...given: Given) => made(...given), { deferred, immediate, exclusive });
  }
}

/** Begins a transaction that holds the lock for writing from its start. */
export function beginImmediate(database: Database): void {
  writeWhenFree(database, () => database.run("BEGIN IMMEDIATE"));
}

/** Writes. Where the lock is taken, it is requested again and again, for as long as the connection may wait. */
function writeWhenFree<Result>(database: Database, write: () => Result): Result {
  if (database.inTransaction || !existsSync(lockRequestsOf(database.filename))) return write();
  const mayWaitMs = database.query<{ timeout: number }, []>("PRAGMA busy_timeout").get()?.timeout ?? 0;
  const endMs = performance.now() + mayWaitMs;
  database.run("PRAGMA busy_timeout = 0");
  try {
    for (;;) {
      try {
        return write();
      } catch (cause) {
        if (!isLocked(cause)) throw cause;
        requestLock(database.filename);
        if (performance.now() > endMs) throw cause;
      }
      Bun.sleepSync(requestEveryMs);
    }
  } finally {
    database.run(`PRAGMA busy_timeout = ${mayWaitMs}`);
  }
}

function requestLock(path: string): void {
  try {
    // The file is never made here: where there is none, nobody looks at it.
    const file = openSync(lockRequestsOf(path), constants.O_WRONLY | constants.O_APPEND);
    writeSync(file, ".");
    closeSync(file);
  } catch {
    // The writer that had the lock has ended.
  }
}
