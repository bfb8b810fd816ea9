/** A lead at the moment that it has for itself, as it is stored. */
import { eq, sql } from "drizzle-orm";
import type { AccountNumber } from "../../store/reading.ts";
import type { Connection } from "../connection.ts";
import { placeholder } from "../reading/placeholder.ts";
import { leads, positionOf } from "../schema.ts";

export interface StoredLead {
  readonly doc: string;
  /** The number of the import that brought it. */
  readonly batch: number;
}

/** Reads the lead of an account at a moment; none or one. */
export function openStoredLeads(database: Connection, account: AccountNumber): (ms: number) => StoredLead[] {
  const one = database
    .select({ doc: leads.doc, batch: leads.import })
    .from(leads)
    .where(eq(leads.position, positionOf(sql`${account}`, placeholder.integer("ms"))))
    .prepare();
  return (ms) => one.values({ ms }).map(([doc, batch]) => ({ doc, batch }));
}
