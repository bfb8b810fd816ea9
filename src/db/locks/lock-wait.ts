/** How long programs wait for locks that others hold. */
import type { Connection } from "../connection.ts";

/** How long each kind of program waits for a lock that another one holds. */
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
