/** How the counts of a server get into the file, and onto the disk, while requests go on. */
import type { Connection } from "./db/connection.ts";
import { isLocked } from "./db/failure.ts";
import { addUsage } from "./db/usage.ts";
import type { Flushed, UsagePart } from "./db/usage-counter.ts";
import { type openGapMarker, recordGap } from "./privacy/disclosures/gaps.ts";
import { writeDisclosures } from "./privacy/disclosures/ledger.ts";
import type { DisclosurePart } from "./privacy/disclosures/pages.ts";

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
