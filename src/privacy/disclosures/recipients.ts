/** Who received a lead: each key that read a page over its moment, with a fitting filter, when the lead was there. */
import { and, asc, eq, gte, lte } from "drizzle-orm";
import type { Lead } from "../../contract/lead.ts";
import type { Connection } from "../../db/connection.ts";
import { disclosures, keys } from "../../db/schema.ts";
import { readFilter } from "../../store/disclosed-pages.ts";
import type { Received, Span } from "../../store/disclosures.ts";
import type { AccountNumber } from "../../store/reading.ts";
import { joinSpans } from "../../store/spans.ts";
import { openArrivals } from "./arrivals.ts";

/** A lead, and the import that brought it. */
export interface ArrivedLead {
  readonly lead: Lead;
  readonly batch: number;
}

type FindRecipients = (arrived: ArrivedLead) => Received[];

/** Reads the ledger of an account once, as it is now, for the leads at these moments. */
export function openRecipients(
  database: Connection,
  account: AccountNumber,
  moments: readonly number[],
  nowMs: number,
): FindRecipients {
  const arrivals = openArrivals(database, account, nowMs);
  const spans = [...moments.map((ms) => ({ oldestMs: ms, newestMs: ms })), ...arrivals.spansBefore];
  const pages = readPages(database, account, joinSpans(spans.map((span) => ({ ...span, beforeMs: null }))));
  return ({ lead, batch }) => {
    const ms = Date.parse(lead.identified_at);
    const arrival = arrivals.of(batch);
    const before = arrivals.before(batch, ms);

    /** The days since it came, with a page over its moment. */
    function daysSince({ isFor, filter, covering }: FilterPages): ReceivedDay[] {
      const fits = isFor(lead);
      return covering({ oldestMs: ms, newestMs: ms }).flatMap((day) => {
        if (day < arrival.firstDay) return [];
        // Whether its old values fitted is not known.
        const isUnsure = filter !== "" && arrivals.mayHaveReplaced(batch, day);
        return fits || isUnsure ? [{ day, possibly: isUnsure || day <= arrival.lastDay }] : [];
      });
    }

    /** The days before, on which it may have been there already. */
    function daysBefore({ covering }: FilterPages): ReceivedDay[] {
      return before.flatMap(({ span, firstDay, lastDay }) =>
        covering(span)
          .filter((day) => firstDay <= day && day <= lastDay && day <= arrival.lastDay)
          .map((day) => ({ day, possibly: true })),
      );
    }

    return pages.flatMap(({ key, filters }) => {
      const days = filters.flatMap((pagesOfFilter) => [...daysSince(pagesOfFilter), ...daysBefore(pagesOfFilter)]);
      const inOrder = days.toSorted((one, other) => one.day.localeCompare(other.day));
      const [first, last] = [inOrder[0], inOrder.at(-1)];
      if (first === undefined || last === undefined) return [];
      const possibly = days.every((one) => one.possibly);
      return [{ id: lead.id, ...key, first: first.day, last: last.day, possibly }];
    });
  };
}

/** A day on which a key received a lead, or possibly did. */
interface ReceivedDay {
  readonly day: string;
  readonly possibly: boolean;
}

interface FilterPages {
  readonly filter: string;
  readonly isFor: (lead: Lead) => boolean;
  /** The days with a page that covers some of a span. */
  readonly covering: (span: Span) => string[];
}

interface KeyPages {
  readonly key: Pick<Received, "key" | "label" | "prefix">;
  readonly filters: readonly FilterPages[];
}

/** The pages over spans that are in order and apart, of one key after the other: a ledger may have millions of others. */
function readPages(database: Connection, account: AccountNumber, spans: readonly Span[]): KeyPages[] {
  const [first, last] = [spans[0], spans.at(-1)];
  if (first === undefined || last === undefined) return [];
  const near = and(lte(disclosures.oldest, last.newestMs), gte(disclosures.newest, first.oldestMs));
  const isOver = ({ oldestMs, newestMs }: Span) =>
    (spans[countUntil(spans, newestMs) - 1]?.newestMs ?? Number.NEGATIVE_INFINITY) >= oldestMs;
  const { day, filter, oldest: oldestMs, newest: newestMs } = disclosures;
  return listKeys(database, account).map(({ number, ...key }) => {
    const ofKey = and(eq(disclosures.key, number), near);
    const pages = database.select({ day, filter, oldestMs, newestMs }).from(disclosures).where(ofKey).all();
    const inOrder = pages.filter(isOver).toSorted((one, other) => one.oldestMs - other.oldestMs);
    const filters = [...Map.groupBy(inOrder, (page) => page.filter)].map(([filter, pages]) => ({
      filter,
      isFor: readFilter(filter),
      covering: openCovering(pages),
    }));
    return { key, filters };
  });
}

function listKeys(database: Connection, account: AccountNumber) {
  return database
    .select({ number: keys.number, key: keys.id, label: keys.label, prefix: keys.prefix })
    .from(keys)
    .where(eq(keys.account, account))
    .orderBy(asc(keys.number))
    .all();
}

/** Finds pages over a span, looking back from its end. No page up to `place` ends after `reach[place]`, so it can stop. */
function openCovering(pages: readonly (Span & { readonly day: string })[]) {
  let farthest = Number.NEGATIVE_INFINITY;
  const reach = pages.map(({ newestMs }) => (farthest = Math.max(farthest, newestMs)));
  function find({ oldestMs, newestMs }: Span): string[] {
    const days = new Set<string>();
    for (let place = countUntil(pages, newestMs) - 1; place >= 0 && (reach[place] ?? 0) >= oldestMs; place--) {
      const page = pages[place];
      if (page !== undefined && page.newestMs >= oldestMs) days.add(page.day);
    }
    return [...days];
  }
  // Many leads may have been in the same long span.
  const known = new WeakMap<Span, string[]>();
  return (span: Span): string[] => known.getOrInsertComputed(span, find);
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
