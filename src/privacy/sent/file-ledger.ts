/** The ledger of a server on the one file: it records what is sent, and writes it within a second. */
import type { SQL } from "drizzle-orm";
import type { Connection } from "../../db/connection.ts";
import { isLocked } from "../../db/failure.ts";
import type { Flushed } from "../../db/usage.ts";
import {
  completeStatement,
  createClockWatch,
  openGapMarker,
  startStatements,
  stoppedSinceMs,
  stopStatement,
} from "./gaps.ts";
import { createSentPages, sentStatements } from "./ledger.ts";

/** Opens the ledger. Without `keepsLedger`, it only keeps the time of that as a gap. */
export function openFileLedger(database: Connection, keepsLedger: boolean, now: () => number) {
  const pages = createSentPages();
  const marker = openGapMarker(database);
  const clockStatements = createClockWatch();
  const startMs = now();
  let isBegun = false;

  function write(statements: readonly SQL[]): void {
    const runAll = database.$client.transaction(() => {
      for (const statement of statements) database.run(statement);
    });
    if (statements.length > 0) runAll.immediate();
  }

  function writeSome(): Flushed {
    if (!isBegun) write(startStatements(keepsLedger, startMs, "", marker.sinceMs));
    isBegun = true;
    const nowMs = now();
    const part = pages.next();
    const ofPart = part === null ? [] : sentStatements(database, part);
    const complete = part !== null && pages.isLast() ? [completeStatement(nowMs)] : [];
    write([...clockStatements(database, nowMs), ...ofPart, ...complete]);
    if (part === null) return "idle";
    return pages.drop() ? "more" : "done";
  }

  return {
    note: keepsLedger ? pages.note : () => undefined,
    /**
     * Writes some of the noted pages. When that fails, a file marks the beginning of a gap. The mark is removed when all pages
     * are written after all; if the process ends before, the next one records the gap.
     */
    flush(): Flushed {
      try {
        const flushed = writeSome();
        if (pages.pendingSince() === null) marker.end();
        return flushed;
      } catch (cause) {
        const sinceMs = isBegun ? pages.pendingSince() : Math.min(startMs, stoppedSinceMs(database) ?? startMs);
        if (sinceMs !== null && !isLocked(cause)) marker.begin(sinceMs);
        throw cause;
      }
    },
    /** Records that the server stops in order. Call it when all pages are written. */
    stop: () => write([stopStatement(keepsLedger, now())]),
  };
}
