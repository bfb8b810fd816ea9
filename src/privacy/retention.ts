/** Leads are kept for as long as their account says, and erased after that, bytes and all. */
import { and, asc, count, eq, inArray, isNotNull, lt, type SQL, sql } from "drizzle-orm";
import { oldestKeptMs } from "../contract/calendar.ts";
import { insertAct } from "../db/audit.ts";
import type { Connection, LeadDatabase, Statement } from "../db/connection.ts";
import { accounts, leads, residues } from "../db/schema.ts";
import { areDisclosuresOld, forgetOldDisclosures } from "./disclosures/ledger.ts";
import { areReceiptsPending, completeReceipts } from "./receipts.ts";
import { isFarAhead, waitUntil, wasSetBack } from "./retention-hold.ts";
import type { SuppressedAccount } from "./suppressions.ts";

/** Deleting this many takes some 30 ms, and nobody waits longer for it. */
const leadsAtOnce = 500;

interface Retention {
  readonly number: number;
  readonly retainDays: number;
}

export interface RetentionSurvey {
  /** How many leads are older than that. */
  readonly older: number;
  /** How many leads the account has. */
  readonly all: number;
  /** Whether the clock is so far ahead of what was last written that it may be wrong. */
  readonly isFarAhead: boolean;
}

/** What would be erased if the leads of an account were kept for some days. */
export function surveyRetention(database: Connection, number: number, days: number, nowMs: number): RetentionSurvey {
  const older = sql<number>`count(*) FILTER (WHERE ${isTooOld({ number, retainDays: days }, nowMs)})`;
  const counts = database.select({ older, all: count() }).from(leads).where(eq(leads.account, number));
  return { older: 0, all: 0, ...counts.get(), isFarAhead: isFarAhead(database, nowMs) };
}

/** Sets for how many days leads are kept; null keeps all from now on. From here on an import rejects older ones. */
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

/** Erases the leads of an account that are older than it keeps, some at each step, and gives how many are gone. */
export async function* eraseOlder(
  database: LeadDatabase,
  { id, ...retention }: Retention & Pick<SuppressedAccount, "id">,
  nowMs: number,
): AsyncGenerator<number> {
  let erased = 0;
  try {
    for (;;) {
      const { read } = database;
      const older = read.select({ number: leads.number }).from(leads).where(isTooOld(retention, nowMs));
      const some = older.orderBy(asc(leads.identifiedAt)).limit(leadsAtOnce).all();
      if (some.length === 0) return;
      const numbers = some.map(({ number }) => number);
      const those = and(inArray(leads.number, numbers), isTooOld(retention, nowMs));
      await database.write([read.delete(leads).where(those), residueStatement(read)]);
      await database.catchUp();
      erased += some.length;
      yield erased;
    }
  } finally {
    // Also if the caller asks for no further step. Nobody serves what is reported as gone.
    const detail = { days: retention.retainDays, erased };
    const act = insertAct(database.read, { atMs: nowMs, act: "retain.erase", account: id, detail });
    if (erased > 0) await database.write([act], "everywhere");
  }
}

/** The statement that notes, in the transaction that deletes leads, that their bytes have to be removed. */
export function residueStatement(database: Pick<Connection, "insert">): Statement {
  return database.insert(residues).values({ number: Math.floor(Math.random() * 2 ** 48) });
}

/** Whether bytes of deleted leads may be left, because an erasure or a retention was stopped. */
export function areResiduesLeft(database: Connection): boolean {
  return database.select({ number: residues.number }).from(residues).limit(1).all().length > 0;
}

/**
 * Whether the daily work has anything to do: leads older than their account keeps, something that was stopped before it was
 * complete, or a ledger with what is too old.
 */
export function isRetentionDue(database: Connection, nowMs: number): boolean {
  return (
    areResiduesLeft(database) ||
    areReceiptsPending(database, nowMs) ||
    areDisclosuresOld(database, nowMs) ||
    wasSetBack(database, nowMs) ||
    accountsKeeping(database).some((account) => isAny(database, isTooOld(account, nowMs)))
  );
}

export interface Retained {
  /** How many leads were erased. */
  readonly erased: number;
  /** Unix milliseconds until which nothing is erased, because the clock may be wrong; null when it is trusted. */
  readonly waitsUntilMs: number | null;
}

/** The daily work of a server: completes what was stopped and erases what is too old, unless the clock may be wrong. */
export async function applyRetention(database: LeadDatabase, nowMs: number, hasJumped: boolean): Promise<Retained> {
  await completeReceipts(database, nowMs);
  const waitsUntilMs = await waitUntil(database, nowMs, hasJumped);
  let erased = 0;
  if (waitsUntilMs === null) {
    if (areDisclosuresOld(database.read, nowMs)) await database.write([forgetOldDisclosures(nowMs)]);
    for (const account of accountsKeeping(database.read)) {
      let ofAccount = 0;
      for await (ofAccount of eraseOlder(database, account, nowMs));
      erased += ofAccount;
    }
  }
  if (areResiduesLeft(database.read)) await database.removeResidualBytes();
  return { erased, waitsUntilMs };
}

function accountsKeeping(database: Connection) {
  return database
    .select({ number: accounts.number, id: accounts.id, retainDays: sql<number>`${accounts.retainDays}` })
    .from(accounts)
    .where(isNotNull(accounts.retainDays))
    .all();
}

/** Whether a lead of an account is older than it keeps. */
function isTooOld({ number, retainDays }: Retention, nowMs: number): SQL | undefined {
  return and(eq(leads.account, number), lt(leads.identifiedAt, oldestKeptMs(retainDays, nowMs)));
}

function isAny(database: Connection, those: SQL | undefined): boolean {
  return database.select({ ms: leads.identifiedAt }).from(leads).where(those).limit(1).values().length > 0;
}
