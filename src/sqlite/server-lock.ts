/** One server for one file: the limit per minute lives in its process, and a restore must know that it runs. */
import { Database } from "bun:sqlite";
import { mkdirSync } from "node:fs";
import { dirname } from "node:path";
import { giveToOwner, removeStaleDrafts } from "./atomic-file.ts";
import { isLocked, storeErrorOf } from "./failure.ts";
import { serverLockPath } from "./file.ts";

/** A server that was told to stop may need a moment. */
const patienceMs = 1_000;
/** A connection that nobody refers to is collected, and its lock with it. */
const held = new Set<Database>();

/**
 * Takes the place of the one server of a file; what it returns gives it back, and so does the end of the process, by
 * whatever cause. Null when another process has it.
 */
export function lockForServing(path: string): (() => void) | null {
  process.umask(0o077);
  try {
    mkdirSync(dirname(path), { recursive: true });
    const client = new Database(serverLockPath(path), { create: true, readwrite: true });
    try {
      client.run(`PRAGMA busy_timeout = ${patienceMs}`);
      // Nothing is ever written: the lock of the operating system is all that is wanted.
      client.run("PRAGMA journal_mode = MEMORY");
      client.run("BEGIN EXCLUSIVE");
      if (process.getuid?.() === 0) giveToOwner(serverLockPath(path), path);
      removeStaleDrafts(path);
      held.add(client);
      return () => {
        held.delete(client);
        client.close();
      };
    } catch (cause) {
      client.close();
      if (isLocked(cause)) return null;
      throw cause;
    }
  } catch (cause) {
    throw storeErrorOf(cause, path);
  }
}
