/** The read positions of clients, and the late leads that they have missed. */
import { and, asc, eq, gt, gte, isNull, max, or } from "drizzle-orm";
import { readDocument } from "../../contract/stored-lead.ts";
import { readLeads } from "../../db/all-leads.ts";
import type { Connection } from "../../db/connection.ts";
import { disclosures, imports, keys } from "../../db/schema.ts";
import { oldestKeptDay } from "./ledger.ts";
import { readFilter } from "./pending-pages.ts";
import { arrivedLead } from "./recipients.ts";

/** The newest timestamp that a live key has read through one filter. */
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
  const positions = reached.flatMap((one) => one.positions);
  const furthestMs = positions.reduce((max, { upToMs }) => Math.max(max, upToMs), Number.NEGATIVE_INFINITY);
  const oldestMs = database.select({ ms: imports.oldest }).from(imports).where(eq(imports.number, batch)).get()?.ms;
  const filters = new Map<string, ReturnType<typeof readFilter>>();
  const passed = new Map<string, Passed>();
  if (positions.length === 0) return [];
  for (const { ms, doc, batch: itsBatch } of readLeads(database, account, { fromMs: oldestMs ?? furthestMs })) {
    if (ms >= furthestMs) break;
    if (itsBatch !== batch) continue;
    const lead = arrivedLead(readDocument(doc), batch);
    const then = reached.findLast(({ afterMs }) => afterMs === null || afterMs < ms)?.positions ?? [];
    // A polling client never sees a lead that arrives later and is older than its position.
    const ahead = then.filter(
      ({ filter, upToMs }) => ms < upToMs && filters.getOrInsertComputed(filter, readFilter)(lead),
    );
    const missed = new Set<string>();
    for (const { key, label, prefix, upToMs } of ahead) {
      const { late, overlapSeconds } = passed.get(key) ?? { late: 0, overlapSeconds: 0 };
      const seconds = Math.max(overlapSeconds, Math.ceil((upToMs - ms) / 1000));
      passed.set(key, { key, label, prefix, late: missed.has(key) ? late : late + 1, overlapSeconds: seconds });
      missed.add(key);
    }
  }
  return [...passed.values()];
}

/** Returns the read positions of the live keys of an account. */
export function readPositions(database: Connection, account: number, nowMs: number) {
  const isLive = and(isNull(keys.revokedAt), or(isNull(keys.expiresAt), gt(keys.expiresAt, nowMs)));
  const { filter, newest } = disclosures;
  return database
    .select({ key: keys.id, label: keys.label, prefix: keys.prefix, filter, newestMs: max(newest) })
    .from(disclosures)
    .innerJoin(keys, eq(keys.number, disclosures.key))
    .where(and(eq(keys.account, account), gte(disclosures.day, oldestKeptDay(nowMs)), isLive))
    .groupBy(keys.number, filter)
    .orderBy(asc(keys.number))
    .all()
    .map(({ newestMs, ...position }) => ({ ...position, upToMs: newestMs ?? 0 }));
}

/** Returns the timestamp of the newest lead that a key received; null if none is known. */
export function readUpTo(database: Connection, id: string, nowMs: number): number | null {
  const newest = database.select({ ms: max(disclosures.newest) }).from(disclosures);
  const ofKey = and(eq(keys.id, id), gte(disclosures.day, oldestKeptDay(nowMs)));
  return newest.innerJoin(keys, eq(keys.number, disclosures.key)).where(ofKey).get()?.ms ?? null;
}
