/** Leads that say something else of a visit which is there already: they have another id, and would stand beside it. */
import { and, eq } from "drizzle-orm";
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

/** How many leads are of the visitor, the page and the moment of a stored one, and are not stored themselves. */
export function countChangedVisits(
  database: Connection,
  account: AccountNumber,
  staging: Pick<Staging, "read">,
  stored: Pick<StoredLeads, "find" | "newest">,
): number {
  const storedAt = openStoredAt(database, account);
  const newestMs = stored.newest();
  let changed = 0;
  for (const lead of staging.read(0, mostLookedAt)) {
    const { id, identifiedMs } = lead;
    if (identifiedMs === null || newestMs === null || identifiedMs > newestMs) break;
    const there = storedAt(identifiedMs);
    if (there !== null && isSameVisit(lead, there) && stored.find(id) === null) changed++;
  }
  return changed;
}

type Document = LeadDetails & { readonly pixel_id: string };

function isSameVisit({ document }: NewLead, there: string): boolean {
  const one: Document = JSON.parse(document);
  const other: Document = JSON.parse(there);
  const isSame = (field: keyof Document) => one[field] !== null && one[field] === other[field];
  return one.pixel_id === other.pixel_id && one.page_url === other.page_url && (isSame("email") || isSame("name"));
}

/** Prepares the look at the document of a moment. */
function openStoredAt(database: Connection, account: AccountNumber): (ms: number) => string | null {
  const one = database
    .select({ document: leads.doc })
    .from(leads)
    .where(and(eq(leads.account, placeholder.integer("account")), eq(leads.identifiedAt, placeholder.integer("at"))))
    .prepare();
  return (at) => one.values({ account, at })[0]?.[0] ?? null;
}
