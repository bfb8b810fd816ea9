/** One lead of an account, read or deleted by its moment: no other lead of the account has the same one. */
import { and, eq, sql } from "drizzle-orm";
import type { Lead } from "../contract/lead.ts";
import type { Connection } from "../db/connection.ts";
import { placeholder } from "../db/placeholder.ts";
import { leads } from "../db/schema.ts";
import type { AccountNumber } from "../store/reading.ts";

interface StoredLead {
  readonly lead: Lead;
  /** The lead as it is served, to the byte. */
  readonly doc: string;
  /** The number of the import that brought it. */
  readonly batch: number;
}

/** Prepares reading the lead at a moment: one, or none. */
export function openLeadAt(database: Connection, account: AccountNumber): (ms: number) => StoredLead[] {
  const one = database.select({ doc: leads.doc, batch: leads.import }).from(leads).where(atMoment(account)).prepare();
  return (ms) => one.values({ ms }).map(([doc, batch]) => ({ lead: JSON.parse(doc), doc, batch }));
}

/** Prepares deleting a lead as it was read, and no other one. Call it within the transaction that has read it. */
export function openDeletion(database: Connection, account: AccountNumber): (doc: string) => void {
  const isSame = and(atMoment(account), eq(leads.doc, sql.placeholder("doc")));
  const one = database.delete(leads).where(isSame).prepare();
  return (doc) => {
    const lead: Lead = JSON.parse(doc);
    one.run({ ms: Date.parse(lead.identified_at), doc });
  };
}

function atMoment(account: AccountNumber) {
  return and(eq(leads.account, account), eq(leads.identifiedAt, placeholder.integer("ms")));
}
