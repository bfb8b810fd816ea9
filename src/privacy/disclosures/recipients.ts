/** Who received a lead: each key that read a page over its timestamp, with a fitting filter, when the lead was there. */
import { and, asc, eq, gte, lte } from "drizzle-orm";
import type { Lead } from "../../contract/lead.ts";
import { cityKey } from "../../contract/stored-lead.ts";
import type { Connection } from "../../db/connection.ts";
import { disclosures, keys } from "../../db/schema.ts";
import { type Arrival, openArrivals, type Stretch } from "./arrivals.ts";
import { oldestKeptDay } from "./ledger.ts";
import { type Filterable, readFilter } from "./pages.ts";
import type { Span } from "./spans.ts";

/** That a key received a lead, on which UTC days at the earliest and the latest. */
export interface Received {
  /** The ID of the key. */
  readonly key: string;
  readonly label: string | null;
  /** The first characters of the key. */
  readonly prefix: string;
  readonly first: string;
  readonly last: string;
  /** Whether there is a real doubt: the lead came late or was replaced around that time. */
  readonly possibly: boolean;
}

/** What decides who received a lead: its timestamp, its import, and the values of filters. It names nobody. */
export interface ArrivedLead extends Filterable {
  readonly ms: number;
  readonly batch: number;
}

export function arrivedLead(lead: Lead, batch: number): ArrivedLead {
  const { identified_at, pixel_id, state, city, email } = lead;
  const filters = { pixel_id, state, city: city === null ? null : cityKey(city), has_email: email !== null };
  return { ms: Date.parse(identified_at), batch, ...filters };
}

/** Reads the ledger of an account once, as it is now, for some leads. */
export function openRecipients(
  database: Connection,
  account: number,
  some: readonly Pick<ArrivedLead, "ms">[],
  nowMs: number,
): (arrived: ArrivedLead) => Received[] {
  const arrivals = openArrivals(database, account, nowMs);
  const moments = some.map(({ ms }) => ({ oldestMs: ms, newestMs: ms }));
  const pages = readPages(database, account, union([...moments, ...arrivals.spansBefore]), nowMs);
  return (lead) => {
    const { ms, batch } = lead;
    const arrival = arrivals.of(batch);
    const before = arrivals.before(batch, ms);

    /** The days since it came, with a page over its timestamp. */
    function daysSince({ isFor, filter, covering }: FilterPages): ReceivedDay[] {
      const fits = isFor(lead);
      return covering({ oldestMs: ms, newestMs: ms }).flatMap(({ day, seen }) => {
        const had = hadLead(arrivals.seenIn(batch, seen), arrival, day);
        // Whether its old values fitted is not known.
        const isUnsure = filter !== "" && arrivals.mayHaveReplaced(batch, day);
        return had !== "no" && (fits || isUnsure) ? [{ day, possibly: isUnsure || had === "maybe" }] : [];
      });
    }

    /** The days before, on which it may have been there already. */
    function daysBefore({ covering }: FilterPages): ReceivedDay[] {
      return before.flatMap(({ span, firstDay, lastDay }) =>
        covering(span)
          .filter(({ day }) => firstDay <= day && day <= lastDay && day <= arrival.lastDay)
          .map(({ day }) => ({ day, possibly: true })),
      );
    }

    return pages.flatMap(({ key, filters }) => {
      const days = filters.flatMap((pagesOfFilter) => [...daysSince(pagesOfFilter), ...daysBefore(pagesOfFilter)]);
      const inOrder = days.toSorted((one, other) => one.day.localeCompare(other.day));
      const [first, last] = [inOrder[0], inOrder.at(-1)];
      if (first === undefined || last === undefined) return [];
      const possibly = days.every((one) => one.possibly);
      return [{ ...key, first: first.day, last: last.day, possibly }];
    });
  };
}

/** Whether a page had a lead, by the state that it saw, else by the days on which the lead may have come. */
function hadLead(was: "yes" | "no" | "maybe" | null, arrival: Arrival, day: string): "yes" | "no" | "maybe" {
  if (was === "yes" || was === "no") return was;
  if (was === null && day < arrival.firstDay) return "no";
  return day <= arrival.lastDay ? "maybe" : "yes";
}

/** A day on which a key received a lead, or possibly did. */
interface ReceivedDay {
  readonly day: string;
  readonly possibly: boolean;
}

type LedgerPage = Span & { readonly day: string };

interface FilterPages {
  readonly filter: string;
  readonly isFor: (lead: Filterable) => boolean;
  /** The pages that cover some of a stretch. */
  readonly covering: (stretch: Stretch) => readonly LedgerPage[];
}

interface KeyPages {
  readonly key: Pick<Received, "key" | "label" | "prefix">;
  readonly filters: readonly FilterPages[];
}

/** The pages over stretches that are sorted and disjoint, of one key after the other: a ledger may have millions of others. */
function readPages(database: Connection, account: number, spans: readonly Stretch[], nowMs: number): KeyPages[] {
  const [first, last] = [spans[0], spans.at(-1)];
  if (first === undefined || last === undefined) return [];
  const near = and(lte(disclosures.oldest, last.newestMs), gte(disclosures.newest, first.oldestMs));
  const isOver = ({ oldestMs, newestMs }: Stretch) =>
    (spans[countUntil(spans, newestMs) - 1]?.newestMs ?? Number.NEGATIVE_INFINITY) >= oldestMs;
  const { day, filter, oldest: oldestMs, newest: newestMs, seen } = disclosures;
  return listKeys(database, account).map(({ number, ...key }) => {
    const ofKey = and(eq(disclosures.key, number), gte(day, oldestKeptDay(nowMs)), near);
    const pages = database.select({ day, filter, oldestMs, newestMs, seen }).from(disclosures).where(ofKey).all();
    const inOrder = pages.filter(isOver).toSorted((one, other) => one.oldestMs - other.oldestMs);
    const filters = [...Map.groupBy(inOrder, (page) => page.filter)].map(([filter, pages]) => ({
      filter,
      isFor: readFilter(filter),
      covering: openCovering(pages),
    }));
    return { key, filters };
  });
}

function listKeys(database: Connection, account: number) {
  return database
    .select({ number: keys.number, key: keys.id, label: keys.label, prefix: keys.prefix })
    .from(keys)
    .where(eq(keys.account, account))
    .orderBy(asc(keys.number))
    .all();
}

/** Finds pages over a stretch, looking back from its end. No page up to `place` ends after `reach[place]`, so it can stop. */
function openCovering(pages: readonly LedgerPage[]) {
  let farthest = Number.NEGATIVE_INFINITY;
  const reach = pages.map(({ newestMs }) => (farthest = Math.max(farthest, newestMs)));
  function find({ oldestMs, newestMs }: Stretch): LedgerPage[] {
    const found: LedgerPage[] = [];
    for (let place = countUntil(pages, newestMs) - 1; place >= 0 && (reach[place] ?? 0) >= oldestMs; place--) {
      const page = pages[place];
      if (page !== undefined && page.newestMs >= oldestMs) found.push(page);
    }
    return found;
  }
  // Many leads may have been in the same long stretch.
  const known = new WeakMap<Stretch, LedgerPage[]>();
  return (stretch: Stretch): LedgerPage[] => known.getOrInsertComputed(stretch, find);
}

/** The same stretches, sorted, with those joined that overlap or touch. */
function union(stretches: readonly Stretch[]): Stretch[] {
  const joined: { oldestMs: number; newestMs: number }[] = [];
  for (const { oldestMs, newestMs } of stretches.toSorted((one, other) => one.oldestMs - other.oldestMs)) {
    const last = joined.at(-1);
    if (last === undefined || oldestMs > last.newestMs + 1) joined.push({ oldestMs, newestMs });
    else last.newestMs = Math.max(last.newestMs, newestMs);
  }
  return joined;
}

/** How many of the spans begin at a moment or before it. */
function countUntil(spans: readonly { readonly oldestMs: number }[], ms: number): number {
  let low = 0;
  let high = spans.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((spans[middle]?.oldestMs ?? 0) <= ms) low = middle + 1;
    else high = middle;
  }
  return low;
}
