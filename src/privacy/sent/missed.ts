/** The clients that missed late leads of an import: a polling client never looks for older leads than it was sent. */
import { and, asc, eq, gt, isNull, lt, lte, or, sql } from "drizzle-orm";
import type { Connection } from "../../db/connection.ts";
import { keys, leads } from "../../db/schema.ts";

/** The newest timestamp that a live key was sent. */
type ReadPosition = Readonly<ReturnType<typeof readPositions>[number]>;

/** The number of late leads that a polling client has missed, and the overlap with which a poll finds them. */
export interface Passed extends Pick<ReadPosition, "key" | "label" | "prefix"> {
  readonly late: number;
  readonly overlapSeconds: number;
}

/**
 * The read positions at the time when an import committed the leads after a timestamp; null covers all of its leads.
 */
export interface PositionsAt {
  readonly afterMs: number | null;
  readonly positions: readonly ReadPosition[];
}

/** Returns the read positions of the live keys of an account. */
export function readPositions(database: Connection, account: number, nowMs: number) {
  const isLive = and(isNull(keys.revokedAt), or(isNull(keys.expiresAt), gt(keys.expiresAt, nowMs)));
  return database
    .select({ key: keys.id, label: keys.label, prefix: keys.prefix, upToMs: sql<number>`${keys.readUpTo}` })
    .from(keys)
    .where(and(eq(keys.account, account), isLive, sql`${keys.readUpTo} IS NOT NULL`))
    .orderBy(asc(keys.number))
    .all();
}

/**
 * Returns the leads of a committed import that clients missed. If several sets of positions apply to a lead, the last
 * one counts.
 */
export function missedLeads(
  database: Connection,
  account: number,
  batch: number,
  reached: readonly PositionsAt[],
): readonly Passed[] {
  const passed = new Map<string, Passed>();
  for (const [index, { afterMs, positions }] of reached.entries()) {
    const next = reached[index + 1];
    if (next?.afterMs === null) continue;
    const untilMs = next?.afterMs ?? Number.MAX_SAFE_INTEGER;
    for (const { key, label, prefix, upToMs } of positions) {
      const within = and(gt(leads.identifiedAt, afterMs ?? Number.MIN_SAFE_INTEGER), lte(leads.identifiedAt, untilMs));
      const those = and(eq(leads.account, account), within, lt(leads.identifiedAt, upToMs), eq(leads.import, batch));
      const found = { late: sql<number>`count(*)`, oldestMs: sql<number>`min(${leads.identifiedAt})` };
      const { late, oldestMs } = database.select(found).from(leads).where(those).get() ?? { late: 0, oldestMs: 0 };
      if (late === 0) continue;
      const known = passed.get(key) ?? { late: 0, overlapSeconds: 0 };
      const overlapSeconds = Math.max(known.overlapSeconds, Math.ceil((upToMs - oldestMs) / 1000));
      passed.set(key, { key, label, prefix, late: known.late + late, overlapSeconds });
    }
  }
  return [...passed.values()];
}
