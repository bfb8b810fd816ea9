/**
 * A lock that one process at a time has: the server of a file, because the limit per minute lives in its process and a
 * restore must know that it runs; or the import of a folder.
 */
import { Database } from "bun:sqlite";
import { mkdirSync } from "node:fs";
import { dirname } from "node:path";
import { giveToOwner } from "../atomic-file.ts";
import { serverLockOf } from "../database-files.ts";
import { explainFailure, isLocked } from "../failure.ts";
import { lockWaitMs } from "./requesting-database.ts";

/**
 * Takes the lock of a path; null when another process has it. The function that it returns releases it, and so does the
 * end of the process. Keep that function: without it the connection is collected as garbage, and its lock with it.
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
