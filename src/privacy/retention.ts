/** Leads are kept for as long as their account says, and erased after that, bytes and all. */
import { and, eq, type SQL, sql } from "drizzle-orm";
import { dayMs, oldestKeptMs } from "../contract/calendar.ts";
import { insertAct } from "../db/audit.ts";
import type { Connection, LeadDatabase, Statement } from "../db/connection.ts";
import {
  countDueLeads,
  type DueLeads,
  isClockProven,
  isDue,
  type KeepingAccount,
  listKeepingAccounts,
  maxSilenceDays,
} from "../db/due-leads.ts";
import { databaseOn, openConnection } from "../db/open.ts";
import { accounts, leads, residues } from "../db/schema.ts";
import { deleteLeads } from "../db/steps.ts";
import { completeReceipts, pendingReceipts } from "./receipts.ts";
import { forgetNumbers, forgetOlderNumbers, forgetUnsentNumbers, hasFormerNumbers } from "./sent/former-numbers.ts";
import { areSentDaysOld, forgetOldSentDays, keptDays, untilRecorded } from "./sent/ledger.ts";
import type { SuppressedAccount } from "./suppressions.ts";

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

/**
 * Erases the leads of an account that are older than it keeps, some at each step, and yields how many are gone. Ends if
 * somebody gives the account another retention at the same time.
 */
export async function* eraseOlder(
  database: LeadDatabase,
  account: Pick<KeepingAccount, "number" | "id" | "retainDays">,
  nowMs: number,
): AsyncGenerator<number> {
  let erased = 0;
  const { id, retainDays } = account;
  const isUnchanged = sql`EXISTS (SELECT 1 FROM ${accounts} WHERE ${and(eq(accounts.id, id), eq(accounts.retainDays, retainDays))})`;
  const before = (read: Connection, some: SQL | undefined) => [residueStatement(read), forgetNumbers(some)];
  try {
    for await (erased of deleteLeads(database, and(isDue(account, nowMs), isUnchanged), before)) yield erased;
    const oldestMs = oldestKeptMs(account.retainDays, nowMs);
    if (hasFormerNumbers(database.read))
      await database.write([forgetOlderNumbers(database.read, account.number, oldestMs)]);
  } finally {
    // Also if the caller asks for no further step. Nobody serves what is reported as gone.
    const detail = { days: account.retainDays, erased };
    const act = insertAct(database.read, { atMs: nowMs, act: "retain.erase", account: account.id, detail });
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
    pendingReceipts(database) !== null ||
    areSentDaysOld(database, nowMs) ||
    hasFormerNumbers(database) ||
    listKeepingAccounts(database).some((account) => isAny(database, isDue(account, nowMs)))
  );
}

/** The result of the daily work. */
export interface Retained {
  /** The number of leads that were erased. */
  readonly erased: number;
  /** The accounts whose retention waits until a person repeats it. */
  readonly waiting: readonly WaitingAccount[];
}

/** An account with leads that are too old, and the reason why a server does not erase them. */
export interface WaitingAccount extends DueLeads {
  readonly account: string;
  readonly days: number;
}

/**
 * Does the daily work of a server: completes what was interrupted, and erases leads that are too old, unless a person must
 * confirm it.
 */
export async function applyRetention(database: LeadDatabase, nowMs: number): Promise<Retained> {
  // Not those of an erasure that runs during the wait: the servers may not have recorded its last pages.
  const pending = pendingReceipts(database.read);
  if (pending !== null) {
    await untilRecorded(database.path);
    await completeReceipts(database, pending);
  }
  await forgetUnsentNumbers(database, () => nowMs);
  if (areSentDaysOld(database.read, nowMs) && isLedgerTimeProven(database.read, nowMs))
    await database.write([forgetOldSentDays(nowMs)]);
  let erased = 0;
  const waiting: WaitingAccount[] = [];
  for (const account of listKeepingAccounts(database.read)) {
    const due = countDueLeads(database.read, account, nowMs);
    if (due.doubt !== null) waiting.push({ ...due, account: account.id, days: account.retainDays });
    else {
      let ofAccount = 0;
      for await (ofAccount of eraseOlder(database, account, nowMs));
      erased += ofAccount;
    }
  }
  if (areResiduesLeft(database.read)) await database.removeResidualBytes();
  return { erased, waiting };
}

function isLedgerTimeProven(database: Connection, nowMs: number): boolean {
  return isClockProven(database, nowMs - (keptDays + maxSilenceDays) * dayMs, nowMs);
}

/** The daily work on a file. */
interface RetentionWork {
  readonly path: string;
  readonly nowMs: number;
}

/** Applies retention in a worker thread, on a separate connection, so that rewriting the file blocks no request. */
export async function applyRetentionAt({ path, nowMs }: RetentionWork): Promise<Retained> {
  const database = databaseOn(openConnection(path));
  try {
    return await applyRetention(database, nowMs);
  } finally {
    database.close();
  }
}

function isAny(database: Connection, those: SQL | undefined): boolean {
  return database.select({ ms: leads.identifiedAt }).from(leads).where(those).limit(1).values().length > 0;
}
