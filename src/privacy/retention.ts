/** Leads are kept for as long as their account says, and erased after that, bytes and all. */
import { and, count, eq, gte, isNotNull, lt, lte, type SQL, sql } from "drizzle-orm";
import { dayMs, dayOf, oldestKeptMs } from "../contract/calendar.ts";
import { insertAct, lastAct } from "../db/audit.ts";
import type { Connection, LeadDatabase, Statement } from "../db/connection.ts";
import { databaseOn, openConnection } from "../db/open.ts";
import { type Act, accounts, audit, leads, residues, usage } from "../db/schema.ts";
import { deleteLeads } from "../db/steps.ts";
import { areReceiptsPending, completeReceipts, isAbandoned } from "./receipts.ts";
import { forgetNumbers, forgetOlderNumbers, forgetUnsentNumbers, hasFormerNumbers } from "./sent/former-numbers.ts";
import { areSentDaysOld, forgetOldSentDays } from "./sent/ledger.ts";
import type { SuppressedAccount } from "./suppressions.ts";

interface Retention {
  readonly number: number;
  readonly retainDays: number;
}

/** The number of leads that a retention would erase, and whether the clock can be trusted. */
export type RetentionSurvey = ReturnType<typeof surveyRetention>;

/**
 * Counts the leads of an account, and those that would be erased if they were kept for some days. `isFarAhead` says that the
 * clock is so far ahead of the last write that it may be wrong.
 */
export function surveyRetention(database: Connection, number: number, days: number, nowMs: number) {
  const older = sql<number>`count(*) FILTER (WHERE ${isTooOld({ number, retainDays: days }, nowMs)})`;
  const counts = database.select({ older, all: count() }).from(leads).where(eq(leads.account, number));
  return { older: 0, all: 0, ...counts.get(), isFarAhead: isFarAhead(database, nowMs) };
}

/** Sets for how many days leads are kept; null keeps all. From now on, an import rejects older ones. */
export async function setRetention(
  database: LeadDatabase,
  { number, id }: SuppressedAccount,
  days: number | null,
  nowMs: number,
): Promise<void> {
  const set = database.read.update(accounts).set({ retainDays: days }).where(eq(accounts.number, number));
  const act = insertAct(database.read, { atMs: nowMs, act: "retain.set", account: id, detail: { days } });
  await database.write([set, act], "everywhere");
}

/** Erases the leads of an account that are older than it keeps, some at each step, and yields how many are gone. */
export async function* eraseOlder(
  database: LeadDatabase,
  { id, ...retention }: Retention & Pick<SuppressedAccount, "id">,
  nowMs: number,
): AsyncGenerator<number> {
  let erased = 0;
  const before = (read: Connection, some: SQL | undefined) => [residueStatement(read), forgetNumbers(some)];
  try {
    for await (erased of deleteLeads(database, isTooOld(retention, nowMs), before)) yield erased;
    const oldestMs = oldestKeptMs(retention.retainDays, nowMs);
    if (hasFormerNumbers(database.read))
      await database.write([forgetOlderNumbers(database.read, retention.number, oldestMs)]);
  } finally {
    // Also if the caller asks for no further step. Nobody serves what is reported as gone.
    const detail = { days: retention.retainDays, erased };
    const act = insertAct(database.read, { atMs: nowMs, act: "retain.erase", account: id, detail });
    if (erased > 0) await database.write([act], "everywhere");
  }
}

/** Returns the statement that records, in the transaction that deletes leads, that their bytes have to be removed. */
export function residueStatement(database: Pick<Connection, "insert">): Statement {
  return database.insert(residues).values({ number: Math.floor(Math.random() * 2 ** 48) });
}

/** Returns whether bytes of deleted leads may be left, because an erasure or a retention was stopped. */
export function areResiduesLeft(database: Connection): boolean {
  return database.select({ number: residues.number }).from(residues).limit(1).all().length > 0;
}

/**
 * Returns whether the daily work has anything to do: leads older than their account keeps, interrupted work to complete, or
 * a ledger with days that are too old, or numbers of leads that left.
 */
export function isRetentionDue(database: Connection, nowMs: number): boolean {
  return (
    areResiduesLeft(database) ||
    areReceiptsPending(database, nowMs) ||
    areSentDaysOld(database, nowMs) ||
    hasFormerNumbers(database) ||
    wasSetBack(database, nowMs) ||
    accountsKeeping(database).some((account) => isAny(database, isTooOld(account, nowMs)))
  );
}

/** The result of the daily work. */
export interface Retained {
  /** The number of leads that were erased. */
  readonly erased: number;
  /** Unix milliseconds until which nothing is erased, because the clock may be wrong; null if it is trusted. */
  readonly waitsUntilMs: number | null;
}

/** Does the daily work of a server: completes what was interrupted, and erases what is too old unless the clock may be wrong. */
export async function applyRetention(database: LeadDatabase, nowMs: number, hasJumped: boolean): Promise<Retained> {
  await completeReceipts(database, isAbandoned(nowMs));
  await forgetUnsentNumbers(database);
  const waitsUntilMs = await waitUntil(database, nowMs, hasJumped);
  let erased = 0;
  if (waitsUntilMs === null) {
    if (areSentDaysOld(database.read, nowMs)) await database.write([forgetOldSentDays(nowMs)]);
    for (const account of accountsKeeping(database.read)) {
      let ofAccount = 0;
      for await (ofAccount of eraseOlder(database, account, nowMs));
      erased += ofAccount;
    }
  }
  if (areResiduesLeft(database.read)) await database.removeResidualBytes();
  return { erased, waitsUntilMs };
}

/** The daily work on a file. */
export interface RetentionWork {
  readonly path: string;
  readonly nowMs: number;
  /** The clock was set while the server ran. */
  readonly hasJumped: boolean;
}

/** Applies retention in a worker thread, on a separate connection, so that rewriting the file blocks no request. */
export async function applyRetentionAt({ path, nowMs, hasJumped }: RetentionWork): Promise<Retained> {
  const database = databaseOn(openConnection(path));
  try {
    return await applyRetention(database, nowMs, hasJumped);
  } finally {
    database.close();
  }
}

/** A server may have been off, or without requests, for this long. */
const maxGapMs = 7 * dayMs;
/** Time to set the clock right, or to see that it is. */
const waitMs = dayMs;

/**
 * Returns until when retention waits because the clock may be wrong, in Unix milliseconds: nothing brings back what it
 * erases. Null if it need not wait. It waits if the clock has jumped, or is far ahead of the file. The audit records the
 * wait, so it outlives a restart, and its end by a clock that was set back.
 */
async function waitUntil(database: LeadDatabase, nowMs: number, hasJumped: boolean): Promise<number | null> {
  const { read } = database;
  const record = (act: Act) => database.write([insertAct(read, { atMs: nowMs, act, account: null, detail: {} })]);
  if (wasSetBack(read, nowMs)) await record("retain.clock-back");
  const begun = lastWait(read);
  if (begun !== null && nowMs >= begun && nowMs < begun + waitMs) return begun + waitMs;
  if (!hasJumped && !isFarAhead(read, nowMs)) return null;
  await record("retain.wait");
  return nowMs + waitMs;
}

/** Returns whether retention waited under a clock that was set back since, which the audit does not have yet. */
function wasSetBack(database: Connection, nowMs: number): boolean {
  const last = lastAct(database);
  return last !== undefined && last.atMs > nowMs + waitMs && (lastWait(database) ?? nowMs) > nowMs;
}

/** Returns whether a clock is far ahead of what it has written. The writes of its last day prove nothing. */
function isFarAhead(database: Connection, nowMs: number): boolean {
  const before = nowMs - waitMs;
  const last = lastAct(database, lte(audit.at, before));
  if (last === undefined) return false;
  let knownMs = last.atMs;
  const since = and(gte(usage.day, dayOf(knownMs)), lte(usage.day, dayOf(before)));
  for (const { day } of database.selectDistinct({ day: usage.day }).from(usage).where(since).orderBy(usage.day).all()) {
    const begunMs = Date.parse(day);
    if (begunMs - knownMs > maxGapMs) break;
    knownMs = begunMs + dayMs;
  }
  return nowMs - knownMs > maxGapMs;
}

function lastWait(database: Connection): number | null {
  return lastAct(database, eq(audit.act, "retain.wait"))?.atMs ?? null;
}

function accountsKeeping(database: Connection) {
  return database
    .select({ number: accounts.number, id: accounts.id, retainDays: sql<number>`${accounts.retainDays}` })
    .from(accounts)
    .where(isNotNull(accounts.retainDays))
    .all();
}

/** Returns the condition that a lead of an account is older than it keeps. */
function isTooOld({ number, retainDays }: Retention, nowMs: number): SQL | undefined {
  return and(eq(leads.account, number), lt(leads.identifiedAt, oldestKeptMs(retainDays, nowMs)));
}

function isAny(database: Connection, those: SQL | undefined): boolean {
  return database.select({ ms: leads.identifiedAt }).from(leads).where(those).limit(1).values().length > 0;
}
