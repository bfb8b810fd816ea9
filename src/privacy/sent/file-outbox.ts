/** The outbox of a server on the one file, which it writes within a second, and the gaps of the ledger in it. */
import type { Connection } from "../../db/connection.ts";
import { isLocked } from "../../db/failure.ts";
import { type Flushed, openUsageReader } from "../../db/usage.ts";
import { createClockWatch, openGapMarker, startStatements, stoppedSinceMs, stopStatement } from "./gaps.ts";
import { createOutbox, partStatements } from "./outbox.ts";

/** Opens the outbox. Without `keepsLedger`, it notes no pages, and keeps the time of that as a gap. */
export function openFileOutbox(database: Connection, keepsLedger: boolean, now: () => number) {
  const outbox = createOutbox(openUsageReader(database));
  const marker = openGapMarker(database);
  const clockStatements = createClockWatch();
  const startMs = now();
  let isBegun = false;

  function write(statements: ReturnType<typeof partStatements>): void {
    const runAll = database.$client.transaction(() => {
      for (const statement of statements) database.run(statement);
    });
    if (statements.length > 0) runAll.immediate();
  }

  function writeSome(): Flushed {
    const nowMs = now();
    const part = outbox.next(nowMs);
    const start = isBegun ? [] : startStatements(keepsLedger, startMs, "", marker.sinceMs);
    const ofPart = part === null ? [] : partStatements(database, part);
    write([...start, ...clockStatements(database, nowMs), ...ofPart]);
    isBegun = true;
    if (part === null) return "idle";
    return outbox.drop(part) ? "more" : "done";
  }

  return {
    usage: outbox,
    sent: keepsLedger ? outbox : { note: () => undefined },
    /**
     * Writes some of the outbox. When that fails, a file marks the beginning of a gap. The mark is removed when all pages are
     * written after all; if the process ends before, the next one records the gap.
     */
    flush(): Flushed {
      try {
        const flushed = writeSome();
        if (outbox.unwrittenSince() === null) marker.end();
        return flushed;
      } catch (cause) {
        const sinceMs = isBegun ? outbox.unwrittenSince() : Math.min(startMs, stoppedSinceMs(database) ?? startMs);
        if (sinceMs !== null && !isLocked(cause)) marker.begin(sinceMs);
        throw cause;
      }
    },
    /** Records that the server stops in order. Call it when the outbox is empty. */
    stop: () => write([stopStatement(keepsLedger, now())]),
  };
}
