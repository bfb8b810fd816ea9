/**
 * How the one lock for writing is shared. SQLite lets a writer wait, but does not tell the one who writes that somebody
 * does. So a writer that finds the file locked says so by a byte more in a small file beside it, and whoever has much to
 * write looks there, and makes way (large-transactions.ts).
 */
import { Database, type SQLQueryBindings } from "bun:sqlite";
import { appendFileSync, closeSync, constants, existsSync, openSync, rmSync, statSync, writeSync } from "node:fs";
import { isLocked } from "./failure.ts";

/** Who waits asks this often, so that an end of asking is the end of waiting. */
const askEveryMs = 4;
/** Who made way looks this often whether anybody asks still. */
const lookEveryMs = 3 * askEveryMs;
/** Nobody needs the lock for longer; whoever asks still is somebody new, and comes next time. */
const mostMs = 500;

/** The file is there only while somebody has much to write; one that a kill has left is taken up by the next import. */
const askingPath = (path: string): string => `${path}.asking`;

/** A connection whose writes ask for the lock where they find it taken; all else is SQLite's own waiting. */
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

/** Writes, and asks for the lock where it is taken, for as long as the connection waits at all. */
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
    // Never made here: where it is not, nobody looks.
    const file = openSync(askingPath(path), constants.O_WRONLY | constants.O_APPEND);
    writeSync(file, ".");
    closeSync(file);
  } catch {
    // Who had the lock has ended.
  }
}

/** The side of whoever has much to write. */
export interface Asked {
  /** To be called before the lock is taken. */
  begin(): void;
  /** Whether anybody has asked since then. */
  isAsked(): boolean;
  /** Resolves when nobody asks any more. */
  makeWay(): Promise<void>;
  close(): void;
}

export function openAsked(path: string): Asked {
  const file = askingPath(path);
  // Another import may take the file away at its end: that reads as being asked, and begin makes it again.
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
