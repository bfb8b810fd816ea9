/**
 * Locks. SQLite lets a second writer wait, but does not tell the first one. So a writer that finds the file locked requests
 * the lock: it adds a byte to a small file, which a program with much to write looks at (transactions.ts).
 */
import { Database } from "bun:sqlite";
import {
  appendFileSync,
  closeSync,
  constants,
  existsSync,
  mkdirSync,
  openSync,
  realpathSync,
  rmSync,
  statSync,
  writeSync,
} from "node:fs";
import { dirname } from "node:path";
import { DatabaseUnavailable } from "./connection.ts";
import { giveToOwner, lockRequestsOf, serverLockOf } from "./database-files.ts";
import { codeOf, explainFailure, isLocked } from "./failure.ts";

/** The time that each kind of program waits for a lock that another one has, in milliseconds. */
export const lockWaitMs = {
  /** A command, or the start of the server, while another program writes. */
  toWrite: 10_000,
  /** A server that starts while its predecessor stops. */
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

/** The time limit in which a program with much to write lets others write. A writer that still waits then came later. */
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
    /** Resolves when no more requests come, and not before `minMs` has passed. Call it without the lock. */
    async letOthersWrite(minMs = 0): Promise<void> {
      const endMs = performance.now() + maxPauseMs;
      if (minMs > 0) await Bun.sleep(minMs);
      for (let before = seen, now = size(); before !== now && performance.now() < endMs; now = size()) {
        before = now;
        await Bun.sleep(3 * requestEveryMs);
      }
    },
    close: (): void => rmSync(file, { force: true }),
  };
}

/** Creates a file that only its owner may open, and its folder, unless it is there already. Never opens it otherwise. */
export function createPrivate(path: string): void {
  if (existsSync(path)) return;
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  try {
    closeSync(openSync(path, "wx", 0o600));
  } catch (cause) {
    if (codeOf(cause) !== "EEXIST") throw cause;
  }
}

interface LockOptions {
  /** Also keeps other processes from opening the file (`whileInPlace`), as a restore must. */
  readonly isAlone?: boolean;
  /** The time to wait while another process has the lock. */
  readonly waitMs?: number;
}

/**
 * Acquires a lock that only one process can hold: the server of a file, because it counts the requests per minute and a
 * restore must know that it runs; or the import of a folder. Returns a function that releases it, as the end of the process
 * does, or null if another process holds it. Keep that function, or the connection is collected as garbage, with its lock.
 */
export function takeLock(path: string, options: LockOptions = {}): (() => void) | null {
  const { isAlone = false, waitMs = lockWaitMs.toServe } = options;
  try {
    // Nothing is ever written: only the lock of the operating system is needed.
    const client = lockAt(path, waitMs, isAlone ? "BEGIN EXCLUSIVE" : "BEGIN IMMEDIATE");
    return () => client.close();
  } catch (cause) {
    if (isLocked(cause)) return null;
    throw explainFailure(cause, path);
  }
}

/** Returns whether a server has a file, or a restore replaces it. Creates nothing. */
export function isServed(path: string): boolean {
  if (!existsSync(lockFileOf(path))) return false;
  const release = takeLock(path, { waitMs: 0 });
  release?.();
  return release === null;
}

/**
 * Opens a file while no restore can put another one at its path. SQLite finds the log of a file by its name: a connection to
 * the replaced file would use the log of the new one, and delete it at its end.
 */
export function whileInPlace<Opened>(path: string, open: () => Opened): Opened {
  let lock: Database;
  try {
    lock = lockAt(path, lockWaitMs.toWrite, "BEGIN");
  } catch (cause) {
    if (!isLocked(cause)) throw cause;
    throw new DatabaseUnavailable(
      `${path} is being restored, or an earlier version serves it.`,
      "Wait for the restore, or restart the server, then run the command again.",
      1,
      { cause },
    );
  }
  try {
    return open();
  } finally {
    lock.close();
  }
}

function lockFileOf(path: string): string {
  return serverLockOf(existsSync(path) ? realpathSync(path) : path);
}

function lockAt(path: string, waitMs: number, begin: string): Database {
  const lock = lockFileOf(path);
  createPrivate(lock);
  const client = new Database(lock, { create: true, readwrite: true });
  try {
    client.run(`PRAGMA busy_timeout = ${waitMs}`);
    client.run("PRAGMA journal_mode = MEMORY");
    client.run(begin);
    // A read shares the lock with other reads, and with one that has begun to write.
    client.run("SELECT 1 FROM sqlite_schema");
    if (process.getuid?.() === 0) giveToOwner(lock, path);
    return client;
  } catch (cause) {
    client.close();
    throw cause;
  }
}
