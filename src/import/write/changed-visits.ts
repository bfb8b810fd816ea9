/** Leads of a visit that is there already: they say something else of it, have another id, and would stand beside it. */
import { and, eq, gte, lt, sql } from "drizzle-orm";
import type { LeadDetails } from "../../contract/lead.ts";
import type { Connection } from "../../db/connection.ts";
import { placeholder } from "../../db/placeholder.ts";
import { leads } from "../../db/schema.ts";
import type { Preview } from "../../store/imports.ts";
import type { AccountNumber } from "../../store/reading.ts";
import type { Staging } from "./staging.ts";
import type { Place, StoredLeads } from "./stored-leads.ts";

/** At most this many staged leads are compared, oldest first: what overlaps with an earlier file lies at that end. */
const mostLookedAt = 20_000;
/** At most this many stored leads are read for it: the minutes of a busy account hold many. */
const mostRead = 200_000;
const mostTiedMs = 10;
const minuteMs = 60_000;

/** How many leads are of the visitor, the page and the time of a stored one, and are not stored themselves. */
export function countChangedVisits(
  database: Connection,
  account: AccountNumber,
  staging: Pick<Staging, "read">,
  stored: Pick<StoredLeads, "find" | "newest">,
): Pick<Preview, "changedVisits" | "cutVisits"> {
  const readVisits = openVisits(database, account);
  let visits: Visits = { fromMs: null, count: 0, moments: new Map() };
  let [changedVisits, cutVisits, read] = [0, 0, 0];
  let hasSeconds = false;
  for (const { id, identifiedMs, document } of upTo(stored.newest(), staging)) {
    hasSeconds ||= identifiedMs % minuteMs !== 0;
    if (visits.fromMs !== identifiedMs) {
      visits = readVisits(identifiedMs, hasSeconds ? mostTiedMs : minuteMs);
      read += visits.count;
    }
    const same = momentsIn(visits, document);
    if (same.length > 0 && stored.find(id) === null) {
      if (same.some((ms) => ms < identifiedMs + mostTiedMs)) changedVisits++;
      else cutVisits++;
    }
    if (read > mostRead) break;
  }
  return { changedVisits, cutVisits: hasSeconds ? 0 : cutVisits };
}

/** The leads with a time that is not newer than all that is stored. */
function* upTo(newest: Place | null, staging: Pick<Staging, "read">) {
  for (const lead of staging.read(0, mostLookedAt)) {
    const { identifiedMs } = lead;
    if (identifiedMs === null || newest === null || identifiedMs > newest.at) return;
    yield { ...lead, identifiedMs };
  }
}

/** What is stored from a moment on. */
interface Visits {
  readonly fromMs: number | null;
  readonly count: number;
  /** By page and visitor. */
  readonly moments: ReadonlyMap<string, readonly number[]>;
}

function momentsIn({ moments }: Visits, document: string): readonly number[] {
  return moments.size === 0 ? [] : namesOf(document).flatMap((name) => moments.get(name) ?? []);
}

/** A page with its visitor, who is told by an e-mail address or by a name. */
function namesOf(document: string): string[] {
  const { pixel_id, page_url, email, name }: LeadDetails & { readonly pixel_id: string } = JSON.parse(document);
  const visitors = Object.entries({ email, name }).filter(([, text]) => text !== null);
  return visitors.map((visitor) => JSON.stringify([pixel_id, page_url, visitor]));
}

/** Prepares the look at the visits of a moment and of the moments right after it, to which leads of the same time move. */
function openVisits(database: Connection, account: AccountNumber): (fromMs: number, spanMs: number) => Visits {
  const from = placeholder.integer("from");
  const some = database
    .select({ document: leads.doc, ms: leads.identifiedAt })
    .from(leads)
    .where(
      and(
        eq(leads.account, placeholder.integer("account")),
        gte(leads.identifiedAt, from),
        lt(leads.identifiedAt, sql`${from} + ${placeholder.integer("span")}`),
      ),
    )
    .prepare();
  return (fromMs, spanMs) => {
    const moments = new Map<string, number[]>();
    const rows = some.values({ account, from: fromMs, span: spanMs });
    for (const [document, ms] of rows) {
      for (const name of namesOf(document)) {
        moments.getOrInsertComputed(name, () => []).push(ms);
      }
    }
    return { fromMs, count: rows.length, moments };
  };
}
