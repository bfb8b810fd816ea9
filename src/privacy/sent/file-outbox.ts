/** The outbox of a server without a cluster. It is written to the file within a second, with the gaps of the ledger. */
import type { Connection } from "../../db/connection.ts";
import { isLocked } from "../../db/failure.ts";
import { type Flushed, openUsageReader } from "../../db/usage.ts";
import { createClockWatch, openGapMarker, startStatements, stoppedSinceMs, stopStatement } from "./gaps.ts";
import { createOutbox, partStatements } from "./outbox.ts";

/** Opens the outbox. Without `keepsLedger`, it records no pages, and records that time as a gap. */
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
     * Writes a part of the outbox. If that fails, a marker file records the beginning of a gap. The file is removed once all
     * pages are written after all; if the process ends before that, the next one records the gap.
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
    /** Records an orderly stop of the server. Call it when the outbox is empty. */
    stop: () => write([stopStatement(keepsLedger, now())]),
  };
}
