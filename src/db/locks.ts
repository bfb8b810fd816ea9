/**
 * Locks. SQLite lets a second writer wait, but does not tell the first one. So a writer that finds the file locked requests
 * the lock: it adds a byte to a small file, which a program with much to write looks at (import/write/transactions.ts).
 */
import { Database } from "bun:sqlite";
import { appendFileSync, closeSync, constants, mkdirSync, openSync, rmSync, statSync, writeSync } from "node:fs";
import { dirname } from "node:path";
import { explainFailure, isLocked } from "./failure.ts";
import { giveToOwner, lockRequestsOf, serverLockOf } from "./files.ts";

/** The time that each kind of program waits for a lock that another one has, in milliseconds. */
export const lockWaitMs = {
  /** A command, or the start of the server, behind another writer. */
  toWrite: 10_000,
  /** A new server behind one that was told to stop. */
  toServe: 1_000,
  /** A program that only reads a file, or would replace it. */
  toLook: 2_000,
} as const;

const requestEveryMs = 4;

/**
 * Writes, and requests the lock until it is free. Throws SQLite's error after some time; with 0 it tries once and does not
 * wait.
 */
export function writeWhenFree<Result>(
  client: Database,
  write: () => Result,
  waitMs: number = lockWaitMs.toWrite,
): Result {
  const endMs = performance.now() + waitMs;
  client.run("PRAGMA busy_timeout = 0");
  try {
    for (;;) {
      try {
        return write();
      } catch (cause) {
        if (!isLocked(cause)) throw cause;
        requestLock(client.filename);
        if (performance.now() >= endMs) throw cause;
      }
      Bun.sleepSync(requestEveryMs);
    }
  } finally {
    client.run(`PRAGMA busy_timeout = ${lockWaitMs.toWrite}`);
  }
}

function requestLock(path: string): void {
  try {
    // The file is never created here: without it, nobody looks at it.
    const file = openSync(lockRequestsOf(path), constants.O_WRONLY | constants.O_APPEND);
    writeSync(file, ".");
    closeSync(file);
  } catch {
    // The writer that had the lock has ended.
  }
}

/** The time limit in which a program with much to write lets others write. Whoever still waits then came later. */
const maxPauseMs = 500;

/** Opens the requests for a file, so that others can make them: for a program with much to write. */
export function openLockRequests(path: string) {
  const file = lockRequestsOf(path);
  // Another import may remove the file when it ends. That counts as a request, and begin creates the file again.
  const size = () => statSync(file, { throwIfNoEntry: false })?.size;
  let seen: number | undefined;
  return {
    /** Forgets the requests so far. Call it before taking the lock. */
    begin(): void {
      appendFileSync(file, "");
      // Where root runs an import, the server of another user must be able to write into the file.
      if (process.getuid?.() === 0) giveToOwner(file, path);
      seen = size();
    },
    /** Returns whether there is a request since then. */
    isRequested: (): boolean => size() !== seen,
    /** Resolves when no more requests come. Call it without the lock. */
    async letOthersWrite(): Promise<void> {
      const endMs = performance.now() + maxPauseMs;
      for (let before = seen, now = size(); before !== now && performance.now() < endMs; now = size()) {
        before = now;
        await Bun.sleep(3 * requestEveryMs);
      }
    },
    close: (): void => rmSync(file, { force: true }),
  };
}

/**
 * Takes a lock that one process at a time has: the server of a file, because the limit per minute lives in its process and a
 * restore must know that it runs; or the import of a folder. Null if another process has it. The function that it returns
 * releases it, as the end of the process does. Keep that function, or the connection is collected as garbage, with its lock.
 */
export function takeLock(path: string): (() => void) | null {
  process.umask(0o077);
  try {
    mkdirSync(dirname(path), { recursive: true });
    const client = new Database(serverLockOf(path), { create: true, readwrite: true });
    try {
      client.run(`PRAGMA busy_timeout = ${lockWaitMs.toServe}`);
      // Nothing is ever written: only the lock of the operating system is needed.
      client.run("PRAGMA journal_mode = MEMORY");
      client.run("BEGIN EXCLUSIVE");
      if (process.getuid?.() === 0) giveToOwner(serverLockOf(path), path);
      return () => client.close();
    } catch (cause) {
      client.close();
      if (isLocked(cause)) return null;
      throw cause;
    }
  } catch (cause) {
    throw explainFailure(cause, path);
  }
}
