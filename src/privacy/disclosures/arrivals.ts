/** The times at which leads arrived by imports, and at which they were there before that and left again. */
import { and, asc, desc, eq, gt, or, sql } from "drizzle-orm";
import { dayMs, dayOf } from "../../contract/calendar.ts";
import type { Connection } from "../../db/connection.ts";
import { accounts, audit, imports } from "../../db/schema.ts";
import type { Range, Span } from "./spans.ts";

/** UTC days, both included. An empty text is before all of them, and `~` after them. */
interface Days {
  readonly firstDay: string;
  readonly lastDay: string;
}

const [always, never] = ["", "~"];

/** The clock of an import and that of a server may differ by this much, on the machines of a cluster or when one was set. */
const clockToleranceMs = 60_000;

/**
 * Leads that left, of which some may have arrived again. For example, an import of May 1 was undone on May 3, and its file was
 * imported again on May 5: its leads were there from May 1 to May 3, and a page of those days may have had them.
 */
export interface Departure extends Days {
  /** The import that had brought them; null if it may have been any. */
  readonly batch: number | null;
  /** The time at which the leads were removed. Only a later import can have added them again. */
  readonly untilMs: number;
  /** The range of their timestamps now, without its end. */
  readonly fromMs: number;
  readonly beforeMs: number;
  /** The range of their timestamps before they left; null if it is the same. */
  readonly span: Range | null;
}

/** Reads when the leads of an account arrived and left. */
export function openArrivals(database: Connection, account: number, nowMs: number) {
  const rows = listImports(database, account, nowMs);
  const byNumber = new Map(rows.map((row) => [row.number, row]));
  const replacing = rows.filter(({ replaced }) => replaced > 0);
  const departures = [...rows.flatMap(departureOf), ...listReadmissions(database, account)];

  /** Returns whether a page had a lead of an import, by the state that the page has seen; null if that is not known. */
  function wasSeen(one: ImportRow, seen: number): "yes" | "no" | "maybe" | null {
    const newest = Math.floor(seen / 2);
    if (one.number > newest) return "no";
    if (one.number === newest && seen % 2 === 1) return "yes";
    if (one.finishedAt === null) return null;
    // Each of its leads was the newest of the account when it was added: a page over it had it.
    if (one.late === 0) return "yes";
    const later = byNumber.get(newest);
    return later !== undefined && one.finishedAt <= later.at ? "yes" : "maybe";
  }

  return {
    departures,
    /** Returns a time before which leads of an import were not there; minus infinity if none is known. */
    sinceMs: (batch: number): number => byNumber.get(batch)?.begunMs ?? Number.NEGATIVE_INFINITY,
    /** Returns the days on which an import brought its leads. */
    of: (batch: number): Days => byNumber.get(batch) ?? { firstDay: always, lastDay: never },
    /** Returns whether a page had a lead of an import, by the state that the page has seen, else by its day. */
    had(batch: number, { day, seen }: Pick<Span, "seen"> & { readonly day: string }): "yes" | "no" | "maybe" {
      const one = byNumber.get(batch);
      if (one === undefined) return "maybe";
      const was = seen === null ? null : wasSeen(one, seen);
      if (was === "yes" || was === "no") return was;
      if (was === null && day < one.firstDay) return "no";
      return day <= one.lastDay ? "maybe" : "yes";
    },
    /** Returns whether a lead of an import may have had other values on a day than it has now. */
    mayHaveReplaced: (batch: number, day: string): boolean =>
      // One import may have the lead twice; and a restore reverts what was replaced.
      replacing.some(({ number, endMs, undoneAt }) => number >= batch && day <= dayOf(undoneAt ?? endMs)),
    /** Returns the departures by which a lead of an import may have left before it arrived again. */
    before(batch: number, ms: number): Departure[] {
      const endMs = byNumber.get(batch)?.endMs ?? Number.NEGATIVE_INFINITY;
      // A time in the future was told by a wrong clock: any import may have come after it.
      const isEarlier = ({ untilMs }: Departure) => untilMs <= endMs || untilMs > nowMs;
      return departures.filter((one) => one.batch !== batch && isEarlier(one) && one.fromMs <= ms && ms < one.beforeMs);
    },
  };
}

type ImportRow = ReturnType<typeof listImports>[number];

/** Lists the imports of an account. None began later than one after it: where a row says so, the clock was wrong. */
function listImports(database: Connection, account: number, nowMs: number) {
  const ofAccount = database.select().from(imports).where(eq(imports.account, account));
  let begunMs = nowMs;
  return ofAccount
    .orderBy(desc(imports.number))
    .all()
    .map((row) => {
      begunMs = Math.min(begunMs, row.at);
      // One that was interrupted ran for less than a day.
      const endMs = row.finishedAt ?? row.at + dayMs;
      const days = { firstDay: dayOf(begunMs - clockToleranceMs), lastDay: dayOf(endMs + clockToleranceMs) };
      return { ...row, begunMs, endMs, ...days };
    });
}

/**
 * Returns the departure that an import may have caused: its leads were removed if it was undone, and may have been if it was
 * interrupted. Empty if it added none, or was completed and not undone.
 */
function departureOf(row: ImportRow): Departure[] {
  const { number: batch, at, firstDay, finishedAt, undoneAt, oldest, newest } = row;
  if (oldest === null || newest === null) return [];
  // Wrong times are a reason for an undo, so a lead may arrive again with another one, but with none later than the undo.
  // An undo takes less than a day.
  if (undoneAt !== null) {
    const leads = {
      fromMs: Number.NEGATIVE_INFINITY,
      beforeMs: undoneAt,
      span: { oldestMs: oldest, newestMs: newest },
    };
    return [{ batch, untilMs: undoneAt, ...leads, firstDay, lastDay: dayOf(undoneAt + dayMs) }];
  }
  if (finishedAt !== null) return [];
  // It may be an undo that was interrupted.
  const leads = { fromMs: oldest, beforeMs: newest + 1, span: null };
  return [{ batch, untilMs: at, ...leads, firstDay, lastDay: never }];
}

/** Lists the times until which blocks or a retention kept leads out that imports may have brought again since. */
function listReadmissions(database: Connection, account: number): Departure[] {
  const unblocked = and(eq(audit.act, "lead.unblock"), gt(sql`${audit.detail} ->> '$.unblocked'`, 0));
  const acts = database
    .select({ act: audit.act, at: audit.at, days: sql<number | null>`${audit.detail} ->> '$.days'` })
    .from(audit)
    .innerJoin(accounts, eq(accounts.id, audit.account))
    .where(and(eq(accounts.number, account), or(unblocked, eq(audit.act, "retain.set"))))
    .orderBy(asc(audit.number))
    .all();
  const until = (untilMs: number, beforeMs: number): Departure => ({
    batch: null,
    untilMs,
    fromMs: Number.NEGATIVE_INFINITY,
    beforeMs,
    span: null,
    firstDay: always,
    lastDay: dayOf(untilMs),
  });
  const lifted = acts.filter(({ act }) => act === "lead.unblock").map(({ at }) => until(at, Number.POSITIVE_INFINITY));
  const retentions = acts.filter(({ act }) => act === "retain.set");
  const ended = retentions.flatMap(({ days }, place) => {
    const next = retentions[place + 1];
    return days === null || next === undefined ? [] : [until(next.at, next.at - days * dayMs)];
  });
  return [...lifted, ...ended];
}
