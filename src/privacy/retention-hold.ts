/** Retention waits where the clock may be wrong, because nothing brings back what it erases. */
import { and, eq, gte, lte } from "drizzle-orm";
import { dayMs, dayOf } from "../contract/calendar.ts";
import { insertAct, lastAct } from "../db/audit.ts";
import type { Connection, LeadDatabase } from "../db/connection.ts";
import { type Act, audit, usage } from "../db/schema.ts";

/** A server may have been off, or without requests, for this long. */
const usualGapMs = 7 * dayMs;
/** Time to set the clock right, or to see that it is. */
const waitMs = dayMs;

/**
 * Until when the retention of the server waits, in Unix milliseconds; null when it need not wait. It waits when the clock
 * has jumped, or is far ahead of the file. The wait is put on record, so it outlives a restart, and so is its end by a
 * clock that was set back.
 */
export async function waitUntil(database: LeadDatabase, nowMs: number, hasJumped: boolean): Promise<number | null> {
  const { read } = database;
  const record = (act: Act) => database.write([insertAct(read, { atMs: nowMs, act, account: null, detail: {} })]);
  if (wasSetBack(read, nowMs)) await record("retain.clock-back");
  const begun = lastWait(read);
  if (begun !== null && nowMs >= begun && nowMs < begun + waitMs) return begun + waitMs;
  if (!hasJumped && !isFarAhead(read, nowMs)) return null;
  await record("retain.wait");
  return nowMs + waitMs;
}

/** Whether retention waited under a clock that was set back since, and that is not on record yet. */
export function wasSetBack(database: Connection, nowMs: number): boolean {
  const last = lastAct(database);
  return last !== undefined && last.atMs > nowMs + waitMs && (lastWait(database) ?? nowMs) > nowMs;
}

/** Whether a clock is far ahead of what it has written. What it wrote within its last day proves nothing. */
export function isFarAhead(database: Connection, nowMs: number): boolean {
  const before = nowMs - waitMs;
  const last = lastAct(database, lte(audit.at, before));
  if (last === undefined) return false;
  let knownMs = last.atMs;
  const since = and(gte(usage.day, dayOf(knownMs)), lte(usage.day, dayOf(before)));
  for (const { day } of database.selectDistinct({ day: usage.day }).from(usage).where(since).orderBy(usage.day).all()) {
    const begunMs = Date.parse(day);
    if (begunMs - knownMs > usualGapMs) break;
    knownMs = begunMs + dayMs;
  }
  return nowMs - knownMs > usualGapMs;
}

function lastWait(database: Connection): number | null {
  return lastAct(database, eq(audit.act, "retain.wait"))?.atMs ?? null;
}
