/** A lead at the moment that it has for itself, as it is stored. */
import { eq, sql } from "drizzle-orm";
import type { AccountNumber } from "../../store/reading.ts";
import type { Connection } from "../connection.ts";
import { placeholder } from "../placeholder.ts";
import { leads, positionOf } from "../schema.ts";

export interface Stored {
  readonly doc: string;
  /** The number of the import that brought it. */
  readonly batch: number;
}

/** Reads the lead of an account at a moment; none or one. */
export function openStored(database: Connection, account: AccountNumber): (ms: number) => Stored[] {
  const one = database
    .select({ doc: leads.doc, batch: leads.import })
    .from(leads)
    .where(eq(leads.position, positionOf(sql`${account}`, placeholder.integer("ms"))))
    .prepare();
  return (ms) => one.values({ ms }).map(([doc, batch]) => ({ doc, batch }));
}
