/**
 * Requests for the lock under which one program at a time writes. SQLite lets a second writer wait, but does not tell
 * the first one. So a writer that finds the file locked requests the lock: it adds a byte to a small file beside it.
 * Whoever has much to write looks at that file, and lets the others write first (large-transactions.ts).
 */
import { Database, type SQLQueryBindings } from "bun:sqlite";
import { appendFileSync, closeSync, constants, existsSync, openSync, rmSync, statSync, writeSync } from "node:fs";
import { lockRequestsOf } from "../../store/database-files.ts";
import { giveToOwner } from "../atomic-file.ts";
import { isLocked } from "../failure.ts";

/** A writer that waits requests the lock this often. When no more requests come, nobody waits. */
const requestEveryMs = 4;
/** How often the writer of much looks for new requests, while it lets others write. */
const lookEveryMs = 3 * requestEveryMs;
/** How long it lets others write. Nobody needs longer: whoever still waits then has come later, and is next. */
const longestPauseMs = 500;

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

/** Opens the requests for a file, so that others can make them: for the writer of much. */
export function openLockRequests(path: string) {
  const file = lockRequestsOf(path);
  // Another import may remove the file at its end. That counts as a request, and begin makes the file again.
  const size = () => statSync(file, { throwIfNoEntry: false })?.size;
  let seen: number | undefined;
  return {
    /** Forgets the requests so far. To be called before the lock is taken. */
    begin(): void {
      makeFile(file, path);
      seen = size();
    },
    /** Whether there is a request since then. */
    isRequested: (): boolean => size() !== seen,
    /** Lets others write: resolves when no more requests come. To be called without the lock. */
    async letOthersWrite(): Promise<void> {
      const endMs = performance.now() + longestPauseMs;
      for (let before = seen, now = size(); before !== now && performance.now() < endMs; now = size()) {
        before = now;
        await Bun.sleep(lookEveryMs);
      }
    },
    close: (): void => rmSync(file, { force: true }),
  };
}

/** Where root runs an import, the server of another user must be able to write into the file. */
function makeFile(file: string, path: string): void {
  appendFileSync(file, "");
  if (process.getuid?.() !== 0) return;
  try {
    giveToOwner(file, path);
  } catch {
    // Nobody can request the lock, and each waits as long as SQLite lets a writer wait.
  }
}
