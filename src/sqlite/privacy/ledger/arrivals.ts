/** When leads came: the UTC days on which an import wrote them, and later imports that may have replaced them. */
import { and, eq, sql } from "drizzle-orm";
import { dayMs, dayOf } from "../../../contract/time.ts";
import type { AccountNumber } from "../../../store/reading.ts";
import type { Connection } from "../../connection.ts";
import { accounts, audit, imports } from "../../schema.ts";
import { unblockAct } from "../lift-blocks.ts";

interface Arrival {
  /** A lead was not there on any day before this one. */
  readonly firstDay: string;
  /** It was there on every later day than this one. */
  readonly lastDay: string;
}

/** A lead of an unknown import may have come on any day. */
const unknown: Arrival = { firstDay: "", lastDay: "~" };

export function openArrivals(database: Connection, account: AccountNumber) {
  const rows = database.select().from(imports).where(eq(imports.account, account)).all();
  // An import that was cut short ran for less than a day.
  const arrivals = rows.map(({ number, at, finishedAt, replaced }) => ({
    number,
    replaced,
    arrival: { firstDay: dayOf(at), lastDay: dayOf(finishedAt ?? at + dayMs) },
  }));
  const byNumber = new Map(arrivals.map(({ number, arrival }) => [number, arrival]));
  const begun = new Map(rows.map(({ number, at }) => [number, at]));
  const unblocked = listUnblockings(database, account);
  const replacing = arrivals.filter(({ replaced }) => replaced > 0);
  const undone = rows.flatMap(({ at, oldest, newest, undoneAt }) =>
    undoneAt === null || oldest === null || newest === null
      ? []
      : [{ oldest, newest, firstDay: dayOf(at), lastDay: dayOf(undoneAt) }],
  );
  return {
    of: (batch: number): Arrival => byNumber.get(batch) ?? unknown,
    /** Whether a lead of an import may have had other values on a day than it has now. */
    mayHaveReplaced: (batch: number, day: string): boolean =>
      replacing.some(({ number, arrival }) => number > batch && day <= arrival.lastDay),
    /**
     * Whether a lead of an import may have been there on a day before it came: by an import that was taken back since, or
     * before an erasure whose person was let in again.
     */
    mayHaveBeenThere: (batch: number, ms: number, day: string): boolean =>
      undone.some(
        ({ oldest, newest, firstDay, lastDay }) => oldest <= ms && ms <= newest && firstDay <= day && day <= lastDay,
      ) || unblocked.some((atMs) => day <= dayOf(atMs) && atMs <= (begun.get(batch) ?? atMs)),
  };
}

/** When blocks of an account were lifted. */
function listUnblockings(database: Connection, account: AccountNumber): number[] {
  const ofAccount = eq(accounts.id, audit.account);
  const lifted = and(
    eq(accounts.number, account),
    eq(audit.act, unblockAct),
    sql`${audit.detail} ->> '$.unblocked' > 0`,
  );
  const rows = database.select({ at: audit.at }).from(audit).innerJoin(accounts, ofAccount).where(lifted).all();
  return rows.map(({ at }) => at);
}
