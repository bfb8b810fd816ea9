/** The recipients of leads: each key that read a page over their timestamps, with a fitting filter, when they were there. */
import { and, asc, eq, gte, lte } from "drizzle-orm";
import type { Lead } from "../../contract/lead.ts";
import { cityKey } from "../../contract/stored-lead.ts";
import type { Connection } from "../../db/connection.ts";
import { disclosures, keys } from "../../db/schema.ts";
import { type Departure, openArrivals } from "./arrivals.ts";
import { type Gap, listGaps, lostInRestore } from "./gaps.ts";
import { oldestKeptDay } from "./ledger.ts";
import { type Filterable, readFilter } from "./pending-pages.ts";
import { byOldest, countUntil, type Range, type Span } from "./spans.ts";

/** A key that received a lead, with the earliest and the latest UTC day. */
export interface Received {
  /** The ID of the key. */
  readonly key: string;
  readonly label: string | null;
  /** The first characters of the key. */
  readonly prefix: string;
  readonly first: string;
  readonly last: string;
  /** There is a real doubt: the lead was late or was replaced around that time. */
  readonly possibly: boolean;
}

/** The part of a lead that decides who received it: its timestamp, its import, and the values of filters. It names nobody. */
export interface ArrivedLead extends Filterable {
  readonly ms: number;
  readonly batch: number;
}

/** Returns that part of a lead, as it was added by an import. */
export function arrivedLead(lead: Lead, batch: number): ArrivedLead {
  const { identified_at, pixel_id, state, city, email } = lead;
  const filters = { pixel_id, state, city: city === null ? null : cityKey(city), has_email: email !== null };
  return { ms: Date.parse(identified_at), batch, ...filters };
}

/** The recipients of a lead, and the gaps of that record. */
interface Disclosed {
  readonly received: readonly Received[];
  readonly gaps: readonly Gap[];
}

/**
 * Reads the ledger of an account once, and returns who received each of some leads. For each key:
 *
 * 1. The pages over the timestamp of a lead are judged: did they have it, for certain or possibly?
 * 2. If the lead had another timestamp before it left and arrived again, the days of the pages over that one are added.
 * 3. The gaps since the lead may have been there first say what is not known.
 */
export function discloseLeads(
  database: Connection,
  account: number,
  leads: readonly ArrivedLead[],
  nowMs: number,
): Map<ArrivedLead, Disclosed> {
  if (leads.length === 0) return new Map();
  const arrivals = openArrivals(database, account, nowMs);
  const spansBefore = arrivals.departures.flatMap(({ span }) => span ?? []);
  const range = around([...leads.map(({ ms }) => ({ oldestMs: ms, newestMs: ms })), ...spansBefore]);
  const asked = leads.map((lead): Asked => {
    const since = { sinceMs: arrivals.sinceMs(lead.batch), lastDay: arrivals.of(lead.batch).lastDay };
    return { lead, oldestMs: lead.ms, ...since, before: arrivals.before(lead.batch, lead.ms), received: [] };
  });
  const sorted = asked.toSorted(byOldest);
  const judge = openJudge(arrivals);
  for (const { number, ...key } of keysOfAccount(database, account)) {
    const pages = pagesOver(database, number, range, nowMs);
    const days = daysSince(pages, sorted, judge);
    const daysBefore = arrivals.departures.map((one) => [one, daysBeforeDeparture(pages, one)] as const);
    addDaysBefore(days, asked, new Map(daysBefore));
    for (const [one, received] of days) one.received.push({ ...key, ...received });
  }
  const gaps = listGaps(database, { account }, nowMs);
  const disclosed = asked.map(({ lead, sinceMs, received, before }) => {
    const concerns = ({ from, to, reason }: Gap) =>
      Date.parse(to) >= sinceMs ||
      // The lead may have been imported before, by an import that is lost.
      (reason === lostInRestore && Date.parse(to) >= lead.ms) ||
      before.some(({ firstDay, lastDay }) => to.slice(0, 10) >= firstDay && from.slice(0, 10) <= lastDay);
    return [lead, { received, gaps: gaps.filter(concerns) }] as const;
  });
  return new Map(disclosed);
}

/** Returns the gaps that concern any of some leads, oldest first. */
export function gapsOf(disclosed: readonly Disclosed[]): Gap[] {
  const gaps = new Set(disclosed.flatMap((one) => one.gaps));
  return [...gaps].toSorted((one, other) => one.from.localeCompare(other.from));
}

interface Asked {
  readonly lead: ArrivedLead;
  /** The timestamp of the lead. */
  readonly oldestMs: number;
  /** The lead was not there before, as far as its import knows, and was on every day after the last one. */
  readonly sinceMs: number;
  readonly lastDay: string;
  /** The ways in which it may have been there before, and left. */
  readonly before: readonly Departure[];
  readonly received: Received[];
}

type Doubt = "certain" | "possible";

/**
 * Makes a function that tells whether a page over the timestamp of a lead had it: for certain, if its import had arrived and
 * the filter fits; possibly, if that is in doubt, or if the lead may have been there before it arrived; otherwise null.
 */
function openJudge(arrivals: ReturnType<typeof openArrivals>) {
  const filters = new Map<string, ReturnType<typeof readFilter>>();
  return ({ lead, before, lastDay }: Asked, page: LedgerPage): Doubt | null => {
    const { filter, day } = page;
    const had = arrivals.had(lead.batch, page);
    // It is unknown whether its old values fitted.
    const isUnsure = filter !== "" && arrivals.mayHaveReplaced(lead.batch, day);
    const isFor = filters.getOrInsertComputed(filter, readFilter);
    if (had !== "no" && (isUnsure || isFor(lead))) return isUnsure || had === "maybe" ? "possible" : "certain";
    const wasThere = before.some((one) => one.span === null && one.firstDay <= day && day <= one.lastDay);
    return wasThere && day <= lastDay ? "possible" : null;
  };
}

/** Returns the days on which pages over the timestamps of leads had them. */
function daysSince(pages: readonly LedgerPage[], sorted: readonly Asked[], judge: ReturnType<typeof openJudge>) {
  const days = new Map<Asked, ReceivedDays>();
  for (const page of pages) {
    for (let place = countUntil(sorted, page.oldestMs - 1); ; place++) {
      const one = sorted[place];
      if (one === undefined || one.oldestMs > page.newestMs) break;
      const doubt = judge(one, page);
      if (doubt !== null) add(days, one, page.day, doubt);
    }
  }
  return days;
}

/** Adds the days on which pages may have had leads at other timestamps, before they left and arrived again. */
function addDaysBefore(
  days: Map<Asked, ReceivedDays>,
  asked: readonly Asked[],
  daysBefore: ReadonlyMap<Departure, readonly string[]>,
): void {
  for (const one of asked) {
    for (const departure of one.before) {
      const found = daysBefore.get(departure) ?? [];
      const last = found.findLast((day) => day <= one.lastDay);
      for (const day of last === undefined ? [] : [...found.slice(0, 1), last]) add(days, one, day, "possible");
    }
  }
}

/** Returns the days, in order, with a page over leads at the timestamps that they had before they left. */
function daysBeforeDeparture(pages: readonly LedgerPage[], { span, firstDay, lastDay }: Departure): string[] {
  if (span === null) return [];
  const days = pages
    .filter((page) => span.oldestMs <= page.newestMs && page.oldestMs <= span.newestMs)
    .map(({ day }) => day)
    .filter((day) => firstDay <= day && day <= lastDay);
  return [...new Set(days)].toSorted();
}

type ReceivedDays = Pick<Received, "first" | "last" | "possibly">;

function add<Key>(days: Map<Key, ReceivedDays>, key: Key, day: string, doubt: Doubt): void {
  const known = days.get(key) ?? { first: day, last: day, possibly: true };
  const first = day < known.first ? day : known.first;
  const last = day > known.last ? day : known.last;
  days.set(key, { first, last, possibly: known.possibly && doubt === "possible" });
}

/** Returns the range from the oldest to the newest timestamp. */
function around(ranges: readonly Range[]): Range {
  return ranges.reduce((one, other) => ({
    oldestMs: Math.min(one.oldestMs, other.oldestMs),
    newestMs: Math.max(one.newestMs, other.newestMs),
  }));
}

type LedgerPage = Span & { readonly day: string; readonly filter: string };

/** Lists the pages of a key that overlap a range. */
function pagesOver(database: Connection, key: number, { oldestMs, newestMs }: Range, nowMs: number): LedgerPage[] {
  const { day, filter, oldest, newest, seen } = disclosures;
  const near = and(lte(oldest, newestMs), gte(newest, oldestMs));
  const pages = database.select({ day, filter, oldestMs: oldest, newestMs: newest, seen }).from(disclosures);
  return pages.where(and(eq(disclosures.key, key), gte(day, oldestKeptDay(nowMs)), near)).all();
}

function keysOfAccount(database: Connection, account: number) {
  return database
    .select({ number: keys.number, key: keys.id, label: keys.label, prefix: keys.prefix })
    .from(keys)
    .where(eq(keys.account, account))
    .orderBy(asc(keys.number))
    .all();
}
