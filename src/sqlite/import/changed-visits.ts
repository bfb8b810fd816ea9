/** Leads that say something else of a visit which is there already: they have another id, and would stand beside it. */
import { and, eq, gte, lt, sql } from "drizzle-orm";
import type { LeadDetails } from "../../contract/lead.ts";
import type { NewLead } from "../../store/imports.ts";
import type { AccountNumber } from "../../store/reading.ts";
import type { Connection } from "../connection.ts";
import { placeholder } from "../reading/placeholder.ts";
import { leads } from "../schema.ts";
import type { Staging } from "./staging.ts";
import type { StoredLeads } from "./stored-leads.ts";

/** So many are looked at, oldest first: what overlaps with an earlier file lies at that end. */
const mostLookedAt = 20_000;
const mostTiedMs = 10;

/** How many leads are of the visitor, the page and the moment of a stored one, and are not stored themselves. */
export function countChangedVisits(
  database: Connection,
  account: AccountNumber,
  staging: Pick<Staging, "read">,
  stored: Pick<StoredLeads, "find" | "newest">,
): number {
  const storedFrom = openStoredFrom(database, account);
  const newestMs = stored.newest();
  let changed = 0;
  for (const lead of staging.read(0, mostLookedAt)) {
    const { id, identifiedMs } = lead;
    if (identifiedMs === null || newestMs === null || identifiedMs > newestMs) break;
    if (isAmong(lead, storedFrom(identifiedMs)) && stored.find(id) === null) changed++;
  }
  return changed;
}

type Document = LeadDetails & { readonly pixel_id: string };

function isAmong({ document }: NewLead, there: readonly string[]): boolean {
  if (there.length === 0) return false;
  const lead: Document = JSON.parse(document);
  return there.some((other) => isSameVisit(lead, JSON.parse(other)));
}

function isSameVisit(one: Document, other: Document): boolean {
  const isSame = (field: keyof Document) => one[field] !== null && one[field] === other[field];
  return one.pixel_id === other.pixel_id && one.page_url === other.page_url && (isSame("email") || isSame("name"));
}

/** Prepares the look at the documents of a moment, and of those right behind it: what shares a time lies there. */
function openStoredFrom(database: Connection, account: AccountNumber): (ms: number) => string[] {
  const at = placeholder.integer("at");
  const some = database
    .select({ document: leads.doc })
    .from(leads)
    .where(
      and(
        eq(leads.account, placeholder.integer("account")),
        gte(leads.identifiedAt, at),
        lt(leads.identifiedAt, sql`${at} + ${mostTiedMs}`),
      ),
    )
    .prepare();
  return (ms) => some.values({ account, at: ms }).map(([document]) => document);
}
