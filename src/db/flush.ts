/** How the counts of a server get into the file, and onto the disk, while requests go on. */

import { type openGapMarker, recordGap } from "../privacy/disclosures/gaps.ts";
import { writeDisclosures } from "../privacy/disclosures/ledger.ts";
import type { DisclosurePart } from "../privacy/disclosures/pages.ts";
import type { Connection } from "./connection.ts";
import { isLocked } from "./failure.ts";
import { lockWaitMs } from "./locks/lock-wait.ts";
import { addUsage } from "./usage.ts";
import type { Flushed, UsagePart } from "./usage-counter.ts";
import { truncateWal, type Wal } from "./wal.ts";

/** What is written in parts. */
interface Pending<Part> {
  next(): Part | null;
  drop(part: Part): boolean;
}

/** The pages that wait for the ledger, and what knows since when they could not be written. */
interface PendingPages extends Pending<DisclosurePart> {
  waitingSince(): number | null;
}

/**
 * Makes what records a gap of the ledger: from the oldest page that waits when a write fails, such as on a full disk, until
 * a write succeeds.
 */
export function createGapRecorder(
  database: Connection,
  ledger: Pick<PendingPages, "waitingSince">,
  marker: ReturnType<typeof openGapMarker>,
) {
  return {
    failed(): void {
      marker.mark(ledger.waitingSince());
    },
    succeeded(nowMs: number): void {
      const sinceMs = marker.sinceMs();
      if (sinceMs === null) return;
      recordGap(database, sinceMs, nowMs, "disk full").run();
      marker.mark(null);
    },
  };
}

/** Makes what writes a part of the counted requests or, when none is left, of the pages that were answered. */
export function createFlush(
  database: Connection,
  usage: Pending<UsagePart>,
  ledger: PendingPages,
  gaps: ReturnType<typeof createGapRecorder>,
): () => Flushed {
  return () => {
    try {
      const flushed = flushParts();
      if (flushed === "done" || flushed === "more") gaps.succeeded(Date.now());
      return flushed;
    } catch (cause) {
      gaps.failed();
      throw cause;
    }
  };

  function flushParts(): Flushed {
    const counted = flush(usage, (part) => addUsage(database, part));
    if (counted === "locked" || counted === "more") return counted;
    const noted = flush(ledger, (part) => writeDisclosures(database, part));
    return noted === "idle" ? counted : noted;
  }
}

/** Writes a part, and says how far that came. */
function flush<Part>(pending: Pending<Part>, write: (part: Part) => void): Flushed {
  const part = pending.next();
  if (part === null) return "idle";
  try {
    write(part);
  } catch (cause) {
    if (isLocked(cause)) return "locked";
    throw cause;
  }
  return pending.drop(part) ? "more" : "done";
}

/** Makes what brings the log to the disk. After a failed sync the log has a gap, which no later sync mends. */
export function createSettle(database: Connection, wal: Wal): () => Promise<void> {
  let isWhole = true;
  return async () => {
    if (!isWhole) isWhole = withoutWaiting(database, () => truncateWal(database));
    if (!isWhole) throw new Error("another program keeps the log of the database in use");
    isWhole = false;
    await wal.fsync();
    isWhole = true;
  };
}

/** Does something that must not wait for other programs: it fails when the file is locked. */
export function withoutWaiting<Result>(database: Connection, work: () => Result): Result {
  database.$client.run("PRAGMA busy_timeout = 0");
  try {
    return work();
  } finally {
    database.$client.run(`PRAGMA busy_timeout = ${lockWaitMs.toWrite}`);
  }
}
