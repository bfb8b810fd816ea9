/** Times in which the ledger of disclosures was not kept, and which leads and keys they concern. */
import { closeSync, openSync, readFileSync, rmSync, writeSync } from "node:fs";
import { asc, eq, type SQL, sql } from "drizzle-orm";
import { dayMs } from "../../contract/calendar.ts";
import { writeMoment } from "../../contract/time.ts";
import type { Connection } from "../../db/connection.ts";
import { imports, keys, ledgerGaps } from "../../db/schema.ts";
import { keptDays } from "./ledger.ts";
import type { ArrivedLead } from "./recipients.ts";

/** A time in which the ledger was not kept, as it is printed. */
export interface Gap {
  readonly from: string;
  readonly to: string;
  readonly reason: string;
}

/** Says that the ledger of recipients has a gap. */
export function gapText({ from, to, reason }: Gap): string {
  const minute = (time: string) => time.slice(0, 16).replace("T", " ");
  return `From ${minute(from)} to ${minute(to)} UTC it was not recorded who received leads (${reason}).`;
}

type Reason = (typeof ledgerGaps.$inferSelect)["reason"];

/** The statements with which a server begins: a gap lasts until a server keeps the ledger again. */
export function ledgerBegins(keepsLedger: boolean, nowMs: number, node = ""): SQL[] {
  if (keepsLedger) return ledgerEnds(nowMs, node);
  return [
    sql`INSERT INTO ledger_gaps (node, begins_at, reason) SELECT ${node}, ${nowMs}, 'DISCLOSURES=off'
      WHERE NOT EXISTS (SELECT 1 FROM ledger_gaps WHERE node = ${node} AND ends_at IS NULL)`,
  ];
}

/** The statements with which a gap ends, or a server that keeps no ledger. */
export function ledgerEnds(nowMs: number, node = ""): SQL[] {
  return [sql`UPDATE ledger_gaps SET ends_at = max(${nowMs}, begins_at) WHERE node = ${node} AND ends_at IS NULL`];
}

/** The statement that records a gap that is over. */
export function recordGap(database: Connection, fromMs: number, toMs: number, reason: Reason) {
  return database.insert(ledgerGaps).values({ from: fromMs, to: Math.max(fromMs, toMs), reason });
}

/**
 * A small file next to the database that says since when the ledger could not be written: on a full disk the database takes
 * nothing, but bytes that are there already can be overwritten. Zero stands for a ledger that is kept.
 */
export function openGapMarker(database: string) {
  const path = markerOf(database);
  const sinceMs = readMarker(database);
  const file = openSync(path, "w+", 0o600);
  const write = (ms: number) => writeSync(file, String(ms).padStart(16, "0"), 0);
  write(sinceMs ?? 0);
  let setMs = sinceMs;
  return {
    /** Since when the ledger could not be written; null if it is kept. */
    sinceMs: () => setMs,
    /** Marks the beginning, or the end with null. */
    mark(ms: number | null): void {
      if (ms === setMs || (ms !== null && setMs !== null)) return;
      setMs = ms;
      write(ms ?? 0);
    },
    close(): void {
      closeSync(file);
      if (setMs === null) rmSync(path, { force: true });
    },
  };
}

function markerOf(database: string): string {
  return `${database}.gap`;
}

function readMarker(database: string): number | null {
  try {
    return Number(readFileSync(markerOf(database), "latin1")) || null;
  } catch {
    return null;
  }
}

interface Times {
  readonly fromMs: number;
  readonly toMs: number;
}

function listGaps(database: Connection, nowMs: number): (Times & { readonly reason: string })[] {
  const oldestMs = nowMs - keptDays * dayMs;
  const unwritten = readMarker(database.$client.filename);
  const current = unwritten === null ? [] : [{ from: unwritten, to: null, reason: "disk full" }];
  const recorded = database.select().from(ledgerGaps).orderBy(asc(ledgerGaps.from), asc(ledgerGaps.number)).all();
  return [...recorded, ...current]
    .map(({ from, to, reason }) => ({ fromMs: Math.max(from, oldestMs), toMs: to ?? Math.max(nowMs, from), reason }))
    .filter(({ toMs }) => toMs >= oldestMs);
}

/** The gaps in which some leads were stored and a key of their account could read them. */
export function gapsFor(
  database: Connection,
  account: number,
  arrived: readonly Pick<ArrivedLead, "batch">[],
  nowMs: number,
): Gap[] {
  if (arrived.length === 0) return [];
  const gaps = listGaps(database, nowMs);
  if (gaps.length === 0) return [];
  const begun = new Map(
    database
      .select({ number: imports.number, at: imports.at })
      .from(imports)
      .where(eq(imports.account, account))
      .all()
      .map(({ number, at }) => [number, at]),
  );
  const sinceMs = Math.min(...arrived.map(({ batch }) => begun.get(batch) ?? Number.NEGATIVE_INFINITY));
  const lives = keyLives(database, eq(keys.account, account));
  return gaps.filter((gap) => gap.toMs >= sinceMs && lives.some((life) => overlaps(life, gap))).map(inWords);
}

/** The gaps in which a key could read. */
export function gapsOfKey(database: Connection, id: string, nowMs: number): Gap[] {
  const lives = keyLives(database, eq(keys.id, id));
  return listGaps(database, nowMs)
    .filter((gap) => lives.some((life) => overlaps(life, gap)))
    .map(inWords);
}

function keyLives(database: Connection, those: SQL): Times[] {
  const never = Number.POSITIVE_INFINITY;
  return database
    .select({ createdAt: keys.createdAt, revokedAt: keys.revokedAt, expiresAt: keys.expiresAt })
    .from(keys)
    .where(those)
    .all()
    .map(({ createdAt, revokedAt, expiresAt }) => ({
      fromMs: createdAt,
      toMs: Math.min(revokedAt ?? never, expiresAt ?? never),
    }));
}

function overlaps(one: Times, other: Times): boolean {
  return one.fromMs <= other.toMs && other.fromMs <= one.toMs;
}

function inWords({ fromMs, toMs, reason }: Times & { readonly reason: string }): Gap {
  return { from: writeMoment(fromMs), to: writeMoment(toMs), reason };
}
