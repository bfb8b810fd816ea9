/**
 * How the one lock for writing is shared. SQLite lets a writer wait, but does not tell the writer that has the lock. So
 * a writer that finds the file locked adds a byte to a small file beside it. Whoever has much to write looks at that
 * file, and lets the other one go first (large-transactions.ts).
 */
import { Database, type SQLQueryBindings } from "bun:sqlite";
import { appendFileSync, closeSync, constants, existsSync, openSync, rmSync, statSync, writeSync } from "node:fs";
import { isLocked } from "../failure.ts";

/** Whoever waits adds a byte this often; when no more come, nobody waits. */
const askEveryMs = 4;
/** Whoever let others go first looks this often whether somebody still asks. */
const lookEveryMs = 3 * askEveryMs;
/** Nobody needs the lock for longer. Whoever still asks after this is somebody new, and comes next time. */
const mostMs = 500;

/** The file is there only while somebody has much to write. A file that a kill has left is used by the next import. */
const askingPath = (path: string): string => `${path}.asking`;

/** A connection that asks for the lock where it finds it taken; otherwise SQLite waits as usual. */
export class AskingDatabase extends Database {
  override prepare<Row, Bindings extends SQLQueryBindings | SQLQueryBindings[]>(text: string, bindings?: Bindings) {
    const statement = super.prepare<Row, Bindings>(text, bindings);
    if (/^\s*(?:insert|update|delete)\b/i.test(text)) {
      const { run, all, get, values } = statement;
      statement.run = (...given) => writing(this, () => run.apply(statement, given));
      statement.all = (...given) => writing(this, () => all.apply(statement, given));
      statement.get = (...given) => writing(this, () => get.apply(statement, given));
      statement.values = (...given) => writing(this, () => values.apply(statement, given));
    }
    return statement;
  }

  override transaction<Given extends unknown[], Result>(work: (...given: Given) => Result) {
    const made = super.transaction<Given, Result>(work);
    const { deferred, exclusive } = made;
    const immediate = (...given: Given): Result => writing(this, () => made.immediate(...given));
    return Object.assign((...given: Given) => made(...given), { deferred, immediate, exclusive });
  }
}

/** Writes, and asks for the lock where it is taken, for as long as the connection may wait. */
function writing<Result>(database: Database, write: () => Result): Result {
  if (database.inTransaction || !existsSync(askingPath(database.filename))) return write();
  const patienceMs = database.query<{ timeout: number }, []>("PRAGMA busy_timeout").get()?.timeout ?? 0;
  const endMs = performance.now() + patienceMs;
  database.run("PRAGMA busy_timeout = 0");
  try {
    for (;;) {
      try {
        return write();
      } catch (cause) {
        if (!isLocked(cause)) throw cause;
        ask(database.filename);
        if (performance.now() > endMs) throw cause;
      }
      Bun.sleepSync(askEveryMs);
    }
  } finally {
    database.run(`PRAGMA busy_timeout = ${patienceMs}`);
  }
}

function ask(path: string): void {
  try {
    // The file is never made here: where there is none, nobody looks at it.
    const file = openSync(askingPath(path), constants.O_WRONLY | constants.O_APPEND);
    writeSync(file, ".");
    closeSync(file);
  } catch {
    // The writer that had the lock has ended.
  }
}

/** The side of whoever has much to write. */
export interface Asked {
  /** Call this before the lock is taken. */
  begin(): void;
  /** Whether anybody has asked since then. */
  isAsked(): boolean;
  /** Resolves when nobody asks any more. */
  makeWay(): Promise<void>;
  close(): void;
}

export function openAsked(path: string): Asked {
  const file = askingPath(path);
  // Another import may remove the file at its end. That counts as being asked, and begin makes the file again.
  const size = () => statSync(file, { throwIfNoEntry: false })?.size;
  let seen: number | undefined;
  return {
    begin() {
      appendFileSync(file, "");
      seen = size();
    },
    isAsked: () => size() !== seen,
    async makeWay() {
      const endMs = performance.now() + mostMs;
      for (let before = seen, now = size(); before !== now && performance.now() < endMs; now = size()) {
        before = now;
        await Bun.sleep(lookEveryMs);
      }
    },
    close: () => rmSync(file, { force: true }),
  };
}
