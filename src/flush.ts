/** How the counts of a server get into the file, and onto the disk, while requests go on. */
import type { Connection } from "./db/connection.ts";
import { isLocked } from "./db/failure.ts";
import { addUsage } from "./db/usage.ts";
import type { Flushed, UsagePart } from "./db/usage-counter.ts";
import type { openGapRecorder } from "./privacy/disclosures/gaps.ts";
import { type DisclosurePart, writeDisclosures } from "./privacy/disclosures/ledger.ts";

/** What is written in parts. */
interface Pending<Part> {
  next(): Part | null;
  drop(part: Part): boolean;
}

/** Makes what writes a part of the counted requests or, when none is left, of the pages that were answered. */
export function createFlush(
  database: Connection,
  usage: Pending<UsagePart>,
  ledger: Pending<DisclosurePart>,
  gaps: ReturnType<typeof openGapRecorder>,
  now: () => number,
): () => Flushed {
  return () => {
    try {
      const flushed = flushParts();
      if (flushed === "done" || flushed === "more") gaps.succeeded(now());
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
