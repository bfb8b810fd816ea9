/** Whether anything was committed to the file since the last look: it is asked before any request is answered (§5). */
import { closeSync, openSync, readSync } from "node:fs";
import type { Connection } from "./connection.ts";

export interface CommitWatch {
  /** True when another connection has committed since this was last asked. */
  newer(): boolean;
  /** To be called once SQLite has closed the file: a descriptor that is closed before drops SQLite's locks. */
  close(): void;
}

/**
 * The index of the log begins with two copies of 48 bytes that SQLite writes anew at each commit, before the commit
 * returns (sqlite.org/walformat.html, "The WAL-Index Header"). Reading them costs a fraction of a statement; SQLite
 * itself is asked only when they have changed, because this connection writes counts of its own.
 */
const headerBytes = 96;

export function watchCommits(database: Connection, path: string): CommitWatch {
  const version = database.$client.prepare<{ data_version: number }, []>("PRAGMA data_version");
  let seenVersion = version.get()?.data_version;
  const index = openSync(`${path}-shm`, "r");
  let seen = Buffer.alloc(headerBytes);
  let now = Buffer.alloc(headerBytes);
  return {
    newer() {
      if (readSync(index, now, 0, headerBytes, 0) < headerBytes) throw new Error("the log's index was cut short");
      if (now.equals(seen)) return false;
      const before = seenVersion;
      seenVersion = version.get()?.data_version;
      // The header was read first: what was committed in between is seen the next time, and so is all if that failed.
      [seen, now] = [now, seen];
      return seenVersion !== before;
    },
    close: () => closeSync(index),
  };
}
