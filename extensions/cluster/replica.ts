/**
 * The file of the node beside, read as a server without a cluster reads its own, but never written. The node may put
 * another file at the path, at a restart or for a snapshot of the leader. Then it is opened again, and what was known of
 * the old one is dropped.
 */
import { and, eq, sql } from "drizzle-orm";
import type { Connection } from "../../src/db/connection.ts";
import { openReader, type Reader } from "../../src/db/reader.ts";
import { migrationsBehind } from "../../src/db/schema-version.ts";
import { QueryFailed } from "../../src/db/serving.ts";
import { openUsageReader } from "../../src/db/usage.ts";
import type { UsageReader } from "../../src/db/usage-counter.ts";
import { inodesOf, isSame, openReadOnly } from "./local-file.ts";
import { flushes } from "./tables.ts";
import { openChainOf, openLastPosition, openRevision, type Position } from "./transaction.ts";

/** Where the node is at work on its file, it is tried again after this time and not before. */
const reopenMs = 50;

/** One opening of the file. */
export interface Opening {
  readonly database: Connection;
  readonly reader: Reader;
  readonly usage: UsageReader;
  /** The revision that the file shows. */
  revision(): number;
  /** The chain at a transaction; undefined if the file does not show it. */
  chainOf(id: string): number | undefined;
  /** The last transaction that the file shows; null if there is none. */
  lastPosition(): Position | null;
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

/** Prepares what is read of a file. Throws where it has not its tables yet. */
function openingOf(database: Connection, path: string): Opening {
  // A node that has just joined has an empty file for a moment. A newer schema serves, as far as it is read here.
  const behind = migrationsBehind(database);
  if (behind !== 0 && behind !== "database of a newer version")
    throw new Error("the file of the node has not its tables yet");
  const part = database
    .select({ sequence: flushes.sequence })
    .from(flushes)
    .where(and(eq(flushes.node, sql.placeholder("node")), eq(flushes.process, sql.placeholder("process"))))
    .prepare();
  return {
    database,
    reader: openReader(database, path),
    usage: openUsageReader(database),
    revision: openRevision(database),
    chainOf: openChainOf(database),
    lastPosition: openLastPosition(database),
    shownPart: (node, process) => part.get({ node, process })?.sequence ?? 0,
  };
}

export function openReplica(path: string): Replica {
  let opening: Opening | null = null;
  let openings = 0;
  let triedMs = Number.NEGATIVE_INFINITY;

  function open(): void {
    triedMs = performance.now();
    const before = inodesOf(path);
    const database = openReadOnly(path);
    try {
      opening = openingOf(database, path);
      openings++;
    } catch (cause) {
      database.$client.close();
      throw cause;
    }
    if (!isSame(before, inodesOf(path))) close();
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
