/** Times in which the ledger of disclosures was not kept. */
import { closeSync, constants, fdatasyncSync, openSync, readFileSync, rmSync, writeSync } from "node:fs";
import { asc, eq, type SQL, sql } from "drizzle-orm";
import { dayMs } from "../../contract/calendar.ts";
import { writeMoment } from "../../contract/time.ts";
import type { Connection } from "../../db/connection.ts";
import { isFull } from "../../db/failure.ts";
import { keys, ledgerGaps } from "../../db/schema.ts";
import { keptDays } from "./ledger.ts";

/** A time in which the ledger was not kept, as it is printed. */
export interface Gap {
  readonly from: string;
  readonly to: string;
  readonly reason: string;
}

/** Says that the ledger has a gap. */
export function gapText({ from, to, reason }: Gap): string {
  const minute = (time: string) => time.slice(0, 16).replace("T", " ");
  return `From ${minute(from)} to ${minute(to)} UTC it was not recorded who received leads (${reason}).`;
}

/** Returns the statements with which a server starts: a gap lasts until a server keeps the ledger again. */
export function ledgerBegins(keepsLedger: boolean, nowMs: number, node = ""): SQL[] {
  if (keepsLedger) return ledgerEnds(nowMs, node);
  return [
    sql`INSERT INTO ledger_gaps (node, begins_at, reason) SELECT ${node}, ${nowMs}, 'DISCLOSURES=off'
      WHERE NOT EXISTS (SELECT 1 FROM ledger_gaps WHERE node = ${node} AND ends_at IS NULL)`,
  ];
}

/** Returns the statements that end a gap, as when a server without a ledger stops. */
export function ledgerEnds(nowMs: number, node = ""): SQL[] {
  return [sql`UPDATE ledger_gaps SET ends_at = max(${nowMs}, begins_at) WHERE node = ${node} AND ends_at IS NULL`];
}

/**
 * Makes what records a gap of the ledger: from the oldest pending page when a write fails, such as on a full disk, until a
 * write succeeds. A small file next to the database keeps the beginning over a kill: a full disk does not take a row, but
 * existing bytes can be overwritten. Zeros mean no gap.
 */
export function openGapRecorder(database: Connection, pendingSince: () => number | null, nowMs: number) {
  const path = markerOf(database);
  let sinceMs = readMarker(path);
  // Without O_TRUNC: a full disk might not take the bytes again.
  const file = openSync(path, constants.O_RDWR | constants.O_CREAT, 0o600);

  function mark(ms: number | null): void {
    sinceMs = ms;
    writeSync(file, String(ms ?? 0).padStart(16, "0"), 0);
    fdatasyncSync(file);
  }

  function succeeded(nowMs: number): void {
    if (sinceMs === null) return;
    const gap = { from: sinceMs, to: Math.max(sinceMs, nowMs), reason: "disk full" } as const;
    database.insert(ledgerGaps).values(gap).run();
    mark(null);
  }

  try {
    mark(sinceMs);
    succeeded(nowMs);
  } catch (cause) {
    // A server starts on a full disk, too. It records the gap when there is room.
    if (!isFull(cause)) throw cause;
  }
  return {
    failed(): void {
      const oldestMs = pendingSince();
      if (sinceMs === null && oldestMs !== null) mark(oldestMs);
    },
    succeeded,
    close(): void {
      closeSync(file);
      if (sinceMs === null) rmSync(path, { force: true });
    },
  };
}

function markerOf({ $client }: Connection): string {
  return `${$client.filename}.gap`;
}

function readMarker(path: string): number | null {
  try {
    return Number(readFileSync(path, "latin1")) || null;
  } catch {
    return null;
  }
}

/** Returns the gaps in which one of some keys could read, oldest first, without days that the ledger does not keep. */
export function gapsOfKeys(database: Connection, those: SQL, nowMs: number): Gap[] {
  const never = Number.POSITIVE_INFINITY;
  const oldestMs = nowMs - keptDays * dayMs;
  const unwritten = readMarker(markerOf(database));
  const current = unwritten === null ? [] : [{ from: unwritten, to: null, reason: "disk full" }];
  const recorded = database.select().from(ledgerGaps).orderBy(asc(ledgerGaps.from), asc(ledgerGaps.number)).all();
  const lives = database
    .select({ createdAt: keys.createdAt, revokedAt: keys.revokedAt, expiresAt: keys.expiresAt })
    .from(keys)
    .where(those)
    .all();
  return [...recorded, ...current]
    .map(({ from, to, reason }) => ({ from: Math.max(from, oldestMs), to: to ?? Math.max(nowMs, from), reason }))
    .filter(({ to }) => to >= oldestMs)
    .filter(({ from, to }) =>
      lives.some((key) => key.createdAt <= to && from <= Math.min(key.revokedAt ?? never, key.expiresAt ?? never)),
    )
    .map(({ from, to, reason }) => ({ from: writeMoment(from), to: writeMoment(to), reason }));
}

/** Returns the gaps in which a key could read. */
export function gapsOfKey(database: Connection, id: string, nowMs: number): Gap[] {
  return gapsOfKeys(database, eq(keys.id, id), nowMs);
}
