/** When leads came: the UTC days on which an import wrote them, and where they may have been before that. */
import { and, asc, desc, eq, gt, type InferSelectModel, or, sql } from "drizzle-orm";
import { dayMs, dayOf } from "../../contract/calendar.ts";
import type { Connection } from "../../db/connection.ts";
import { accounts, audit, imports } from "../../db/schema.ts";

/** From one timestamp of leads to another, both included. */
export interface Stretch {
  readonly oldestMs: number;
  readonly newestMs: number;
}

export interface Arrival {
  /** A lead was not there on any day before this one. */
  readonly firstDay: string;
  /** It was there on every later day than this one. */
  readonly lastDay: string;
}

/** The clock of an import and that of a server may differ by this much, on the machines of a cluster or when one was set. */
const clocksApartMs = 60_000;

/** A lead of an unknown import may have come on any day. */
const unknown: Arrival = { firstDay: "", lastDay: "~" };

/** Leads that were there and went, of which some may have come again. */
interface Departure {
  /** The import that had brought them; null where it may have been any. */
  readonly batch: number | null;
  /** Only a later import can have brought them again. */
  readonly untilMs: number;
  /** Which leads may be such ones, by the moment that they have now: from the one to before the other. */
  readonly fromMs: number;
  readonly beforeMs: number;
  /** The moments at which they were before; null where those are the ones that they have now. */
  readonly span: Stretch | null;
  readonly firstDay: string;
  readonly lastDay: string;
}

/** Where a lead may have been before it came: at a moment of the span, on days from the first to the last. */
type Before = Pick<Departure, "firstDay" | "lastDay"> & { readonly span: Stretch };

export function openArrivals(database: Connection, account: number, nowMs: number) {
  const rows = listImports(database, account, nowMs);
  const byNumber = new Map(
    rows.map(({ number, begunMs, endMs, at, finishedAt, late }) => {
      const days = { firstDay: dayOf(begunMs - clocksApartMs), lastDay: dayOf(endMs + clocksApartMs) };
      return [number, { endMs, at, finishedAt, late, ...days }];
    }),
  );
  const replacing = rows.filter(({ replaced }) => replaced > 0);
  const departures = [...rows.flatMap(departureOf), ...listLetInAgain(database, account)];
  return {
    of: (batch: number): Arrival => byNumber.get(batch) ?? unknown,
    /**
     * Whether a page had a lead of an import, by the state that it saw: `yes` if the import was complete or added no lead
     * behind those that were there, `no` if it came later, null if neither is known.
     */
    seenIn(batch: number, seen: number | null): "yes" | "no" | "maybe" | null {
      const one = byNumber.get(batch);
      if (seen === null || one === undefined) return null;
      const newest = Math.floor(seen / 2);
      if (batch > newest) return "no";
      if (batch === newest && seen % 2 === 1) return "yes";
      if (one.finishedAt === null) return null;
      // Each of its leads was the newest of the account when it was added: a page over it had it.
      if (one.late === 0) return "yes";
      const later = byNumber.get(newest);
      return later !== undefined && one.finishedAt <= later.at ? "yes" : "maybe";
    },
    /** All spans at which leads may have been before, but those at their own moments. */
    spansBefore: departures.flatMap(({ span }) => (span === null ? [] : [span])),
    /** Whether a lead of an import may have had other values on a day than it has now. */
    mayHaveReplaced: (batch: number, day: string): boolean =>
      // The same import may have the lead twice; and a restore takes back what was replaced.
      replacing.some(({ number, endMs, undoneAt }) => number >= batch && day <= dayOf(undoneAt ?? endMs)),
    /** Where a lead of an import may have been before: it was taken back or erased, and let in again. */
    before(batch: number, ms: number): Before[] {
      const endMs = byNumber.get(batch)?.endMs ?? Number.NEGATIVE_INFINITY;
      // An end that is still to come was told by a wrong clock: any import may have come after it.
      const isEarlier = ({ untilMs }: Departure) => untilMs <= endMs || untilMs > nowMs;
      return departures
        .filter((one) => one.batch !== batch && isEarlier(one) && one.fromMs <= ms && ms < one.beforeMs)
        .map(({ span, ...days }) => ({ ...days, span: span ?? { oldestMs: ms, newestMs: ms } }));
    },
  };
}

interface ImportRow extends InferSelectModel<typeof imports> {
  readonly begunMs: number;
  readonly endMs: number;
}

/** The imports of an account. None began later than one after it: where a row says so, the clock was wrong. */
function listImports(database: Connection, account: number, nowMs: number): ImportRow[] {
  const ofAccount = database.select().from(imports).where(eq(imports.account, account));
  let begunMs = nowMs;
  return ofAccount
    .orderBy(desc(imports.number))
    .all()
    .map((row) => {
      begunMs = Math.min(begunMs, row.at);
      // One that was cut short ran for less than a day.
      return { ...row, begunMs, endMs: row.finishedAt ?? row.at + dayMs };
    });
}

function departureOf({ number: batch, at, begunMs, finishedAt, undoneAt, oldest, newest }: ImportRow): Departure[] {
  if (oldest === null || newest === null) return [];
  const firstDay = dayOf(begunMs);
  const span = { oldestMs: oldest, newestMs: newest };
  // Wrong times are a reason for an undo, so a lead may come again with another one, but with none later than the undo. That
  // took less than a day.
  if (undoneAt !== null) {
    const which = { untilMs: undoneAt, fromMs: Number.NEGATIVE_INFINITY, beforeMs: undoneAt };
    return [{ batch, ...which, span, firstDay, lastDay: dayOf(undoneAt + dayMs) }];
  }
  if (finishedAt !== null) return [];
  // It may be an undo that was cut short.
  return [{ batch, untilMs: at, fromMs: oldest, beforeMs: newest + 1, span: null, firstDay, lastDay: unknown.lastDay }];
}

/** The leads that blocks or a retention kept out until those were lifted. */
function listLetInAgain(database: Connection, account: number): Departure[] {
  const unblocked = and(eq(audit.act, "lead.unblock"), gt(sql`${audit.detail} ->> '$.unblocked'`, 0));
  const acts = database
    .select({ act: audit.act, at: audit.at, days: sql<number | null>`${audit.detail} ->> '$.days'` })
    .from(audit)
    .innerJoin(accounts, eq(accounts.id, audit.account))
    .where(and(eq(accounts.number, account), or(unblocked, eq(audit.act, "retain.set"))))
    .orderBy(asc(audit.number))
    .all();
  const always = { batch: null, fromMs: Number.NEGATIVE_INFINITY, span: null, firstDay: unknown.firstDay };
  const until = (untilMs: number, beforeMs: number): Departure => ({
    ...always,
    untilMs,
    beforeMs,
    lastDay: dayOf(untilMs),
  });
  const retentions = acts.filter(({ act }) => act === "retain.set");
  const ended = retentions.flatMap(({ days }, place) => {
    const next = retentions[place + 1];
    return days === null || next === undefined ? [] : [until(next.at, next.at - days * dayMs)];
  });
  const lifted = acts.filter(({ act }) => act === "lead.unblock").map(({ at }) => until(at, Number.POSITIVE_INFINITY));
  return [...ended, ...lifted];
}
