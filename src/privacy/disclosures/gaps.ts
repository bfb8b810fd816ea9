/** Times in which the ledger of disclosures was not kept. */
import { rmSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { asc, eq, type SQL, sql } from "drizzle-orm";
import { dayMs } from "../../contract/calendar.ts";
import { formatTime } from "../../contract/time.ts";
import type { Connection } from "../../db/connection.ts";
import { sync } from "../../db/database-files.ts";
import { keys, ledgerGaps } from "../../db/schema.ts";
import { keptDays } from "./ledger.ts";

/** A time in which the ledger was not kept, as it is printed. */
export interface Gap {
  readonly from: string;
  readonly to: string;
  readonly reason: string;
}

/** The reason of a gap after a restore: recipients, keys, and leads since the backup may be unknown. */
export const lostInRestore = "lost in a restore";

/** Returns the sentence about a gap for a person, with its times to the minute, in UTC. */
export function gapText({ from, to, reason }: Gap): string {
  const minute = (time: string) => time.slice(0, 16).replace("T", " ");
  return `From ${minute(from)} to ${minute(to)} UTC it was not recorded who received leads (${reason}).`;
}

/** Returns the statements with which a server starts: a gap lasts until a server keeps the ledger again. */
export function gapStatementsAtStart(keepsLedger: boolean, nowMs: number, node = ""): SQL[] {
  if (keepsLedger) return gapEndStatements(nowMs, node);
  return [
    sql`INSERT INTO ledger_gaps (node, begins_at, reason) SELECT ${node}, ${nowMs}, 'DISCLOSURES=off'
      WHERE NOT EXISTS (SELECT 1 FROM ledger_gaps WHERE node = ${node} AND ends_at IS NULL)`,
  ];
}

/** Returns the statements that end a gap, as when a server without a ledger stops. */
export function gapEndStatements(nowMs: number, node = ""): SQL[] {
  return [sql`UPDATE ledger_gaps SET ends_at = max(${nowMs}, begins_at) WHERE node = ${node} AND ends_at IS NULL`];
}

/**
 * Marks since when the ledger could not be written, also for the time after a kill: by the timestamp of an empty file next
 * to the database, which even a full disk takes.
 */
export function openGapMarker(database: Connection) {
  const path = markerOf(database);
  const sinceMs = readMarker(path);
  let isMarked = sinceMs !== null;
  return {
    /** Since when another process could not write the ledger; null if it could. */
    sinceMs,
    /** Marks the beginning of a gap, unless one has begun. */
    begin(ms: number): void {
      if (isMarked) return;
      writeFileSync(path, "", { mode: 0o600 });
      utimesSync(path, ms / 1000, ms / 1000);
      sync(path);
      isMarked = true;
    },
    /** Removes the mark. */
    end(): void {
      if (isMarked) rmSync(path, { force: true });
      isMarked = false;
    },
  };
}

/** Records a gap that is over. */
export function recordGap(database: Connection, fromMs: number, toMs: number): void {
  const gap = { from: fromMs, to: Math.max(fromMs, toMs), reason: "disk full" } as const;
  database.insert(ledgerGaps).values(gap).run();
}

function markerOf({ $client }: Connection): string {
  return `${$client.filename}.gap`;
}

function readMarker(path: string): number | null {
  const marker = statSync(path, { throwIfNoEntry: false });
  return marker === undefined ? null : Math.round(marker.mtimeMs);
}

/** A key by its ID, or all keys of an account by its number. */
type KeysOf = { readonly key: string } | { readonly account: number };

/**
 * Returns the gaps in which one of some keys could read, oldest first, without days that the ledger does not keep. An account
 * may have had keys since a backup that nobody knows, so each gap of a restore is one of its gaps.
 */
export function listGaps(database: Connection, of: KeysOf, nowMs: number): Gap[] {
  const those = "key" in of ? eq(keys.id, of.key) : eq(keys.account, of.account);
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
    .filter(({ from, to, reason }) => {
      const couldRead = ({ createdAt, revokedAt, expiresAt }: (typeof lives)[number]) =>
        createdAt <= to && from <= Math.min(revokedAt ?? never, expiresAt ?? never);
      return ("account" in of && reason === lostInRestore) || lives.some(couldRead);
    })
    .map(({ from, to, reason }) => ({ from: formatTime(from), to: formatTime(to), reason }));
}
