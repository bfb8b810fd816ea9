/**
 * The file of the node beside, read as a server without a cluster reads its own, but never written. The node may put
 * another file at the path, at a restart or for a snapshot of the leader. Then it is opened again, and what was known of
 * the old one is dropped.
 */
import { Database } from "bun:sqlite";
import { and, eq, sql } from "drizzle-orm";
import { drizzle } from "drizzle-orm/bun-sqlite";
import type { Connection } from "../../src/db/connection.ts";
import { inodeOf } from "../../src/db/file.ts";
import { migrationsBehind } from "../../src/db/migrate.ts";
import { openReader, type Reader } from "../../src/db/reader.ts";
import { flushes, revision } from "../../src/db/schema.ts";
import { openUsageReader } from "../../src/db/usage.ts";
import { QueryFailed } from "../../src/store/reading.ts";
import type { UsageReader } from "../../src/store/usage.ts";
import { openNumberOf } from "./last-write.ts";

/** Where the node is at work on its file, it is tried again after this time and not before. */
const reopenMs = 50;

/** One opening of the file. */
export interface Opening {
  readonly database: Connection;
  readonly reader: Reader;
  readonly usage: UsageReader;
  /** The count of the revision that the file shows. */
  revision(): number;
  /** The number that the file has for a write; undefined where it does not show it. */
  numberOf(id: string): number | undefined;
  /** The number of the last part of usage that the file shows of a process beside a node; 0 where it shows none. */
  shownPart(node: string, process: string): number;
}

export interface Replica {
  /** The file as it is open now. Throws QueryFailed while it is not there. */
  current(): Opening;
  /** Another number with each opening. */
  opening(): number;
  /** To be called when reading has failed: the file is opened anew, at most every so often. */
  reopen(): void;
  close(): void;
}

/** Opens a file that somebody else writes. Nothing of it is changed, nor made beside it. */
export function openReadOnly(path: string): Connection {
  const client = new Database(path, { readonly: true });
  // Reads never wait for the writer; a node that is at work on the file itself may lock it for a moment.
  client.run("PRAGMA busy_timeout = 100");
  // What is sorted must not leave anybody's data in a folder of temporary files.
  client.run("PRAGMA temp_store = MEMORY");
  return drizzle({ client });
}

/** Prepares what is read of a file. Throws where it has not its tables yet. */
function openingOf(database: Connection, path: string): Opening {
  // A node that has just joined has an empty file for a moment. A newer schema serves, as far as it is read here.
  const behind = migrationsBehind(database);
  if (behind !== 0 && behind !== "database of a newer version")
    throw new Error("the file of the node has not its tables yet");
  const count = database.select({ count: revision.count }).from(revision).prepare();
  const part = database
    .select({ sequence: flushes.sequence })
    .from(flushes)
    .where(and(eq(flushes.node, sql.placeholder("node")), eq(flushes.process, sql.placeholder("process"))))
    .prepare();
  return {
    database,
    reader: openReader(database, path),
    usage: openUsageReader(database),
    revision: () => count.get()?.count ?? 0,
    numberOf: openNumberOf(database),
    shownPart: (node, process) => part.get({ node, process })?.sequence ?? 0,
  };
}

export function openReplica(path: string): Replica {
  let opening: Opening | null = null;
  let openings = 0;
  let triedMs = Number.NEGATIVE_INFINITY;

  function open(): void {
    triedMs = performance.now();
    const before = inodeOf(path);
    const database = openReadOnly(path);
    try {
      opening = openingOf(database, path);
      openings++;
    } catch (cause) {
      database.$client.close();
      throw cause;
    }
    // Where it was replaced meanwhile, one file would be read, and the other watched.
    if (inodeOf(path) !== before) close();
  }

  function close(): void {
    opening?.database.$client.close();
    opening?.reader.close();
    opening = null;
  }

  function reopen(): void {
    if (performance.now() - triedMs < reopenMs) return;
    close();
    try {
      open();
    } catch {
      // The node is at work on it; what is asked meanwhile is refused, and it is tried again.
    }
  }

  reopen();
  return {
    current() {
      if (opening === null) reopen();
      if (opening === null) throw new QueryFailed("the file of the node is not there");
      return opening;
    },
    opening: () => openings,
    reopen,
    close,
  };
}
