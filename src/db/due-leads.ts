/** Leads that are older than their account keeps, and whether the clock alone says so: nothing brings back what retention erases. */
import { and, count, eq, gt, inArray, isNotNull, lt, type SQL, sql } from "drizzle-orm";
import { dayMs, oldestKeptMs } from "../contract/calendar.ts";
import { lastAct } from "./audit.ts";
import type { Connection } from "./connection.ts";
import { accounts, audit, imports, leads, usage } from "./schema.ts";

/** An account with a retention period. */
export interface KeepingAccount {
  readonly number: number;
  readonly id: string;
  readonly name: string;
  readonly retainDays: number;
}

/** The leads of an account that its retention would erase now. */
export interface DueLeads {
  readonly older: number;
  readonly all: number;
  /**
   * The reason why a person has to repeat the retention first: these are more than half of the leads, or the file shows a time
   * without any act before this clock. Null if there is none.
   */
  readonly doubt: "half" | "clock" | null;
}

/** A clock that is further ahead of the newest act in the file may be wrong. */
export const maxSilenceDays = 30;

/** Lists the accounts that do not keep all leads. */
export function listKeepingAccounts(database: Connection): KeepingAccount[] {
  const { number, id, name, retainDays } = accounts;
  const keeping = database.select({ number, id, name, retainDays }).from(accounts).where(isNotNull(retainDays)).all();
  return keeping.flatMap((account) =>
    account.retainDays === null ? [] : { ...account, retainDays: account.retainDays },
  );
}

/** Returns the condition that a lead of an account is older than it keeps. */
export function isDue(
  { number, retainDays }: Pick<KeepingAccount, "number" | "retainDays">,
  nowMs: number,
): SQL | undefined {
  return and(eq(leads.account, number), lt(leads.identifiedAt, oldestKeptMs(retainDays, nowMs)));
}

/** Counts the leads of an account that are older than it keeps. */
export function countDueLeads(
  database: Connection,
  account: Pick<KeepingAccount, "number" | "id" | "retainDays">,
  nowMs: number,
): DueLeads {
  const older = database.select({ of: count() }).from(leads).where(isDue(account, nowMs)).get()?.of ?? 0;
  if (older === 0) return { older, all: 0, doubt: null };
  const all = database.select({ of: count() }).from(leads).where(eq(leads.account, account.number)).get()?.of ?? 0;
  const doubt = isClockProven(database, settledMs(database, account.id), nowMs) ? null : "clock";
  return { older, all, doubt: doubt ?? (older * 2 > all ? "half" : null) };
}

/** Returns when a person last set the retention of an account, or a server last applied it; -Infinity if nobody did. */
function settledMs(database: Connection, account: string): number {
  const settled = and(eq(audit.account, account), inArray(audit.act, ["retain.set", "retain.erase"]));
  return lastAct(database, settled)?.atMs ?? Number.NEGATIVE_INFINITY;
}

/**
 * Returns whether the clock has come to its time step by step since another: the acts, the imports, and the days with requests
 * leave no longer silence. What is recorded under a wrong clock does not hide how far it jumped.
 */
export function isClockProven(database: Connection, sinceMs: number, nowMs: number): boolean {
  const recorded = sql`
    SELECT ${audit.at} AS ms FROM ${audit} UNION SELECT ${imports.finishedAt} FROM ${imports}
    UNION SELECT unixepoch(day) * 1000 FROM (SELECT DISTINCT day FROM ${usage})`;
  const from = Math.max(sinceMs, -8.64e15);
  const [row] = database.values<[number | null]>(sql`
    SELECT max(silence) FROM (
      SELECT ms, lead(ms, 1, ${nowMs}) OVER (ORDER BY ms) - ms AS silence FROM (${recorded}) WHERE ms <= ${nowMs})
    WHERE ms + silence > ${from}`);
  return (row?.[0] ?? 0) <= maxSilenceDays * dayMs;
}

/** Lists the accounts with leads that are newer than a time, and how many they have. */
export function listNewerLeads(database: Connection, ms: number): { readonly name: string; readonly leads: number }[] {
  const newer = and(eq(leads.account, accounts.number), gt(leads.identifiedAt, ms));
  return database
    .select({ name: accounts.name, leads: sql<number>`(SELECT count(*) FROM ${leads} WHERE ${newer})` })
    .from(accounts)
    .all()
    .filter((account) => account.leads > 0);
}
