/** Leads are deleted by the moment that each has for itself, where its id is still the same. */
import { and, eq, sql } from "drizzle-orm";
import type { Lead } from "../../contract/lead.ts";
import type { Connection } from "../connection.ts";
import { bytesOf } from "../import/statements.ts";
import { placeholder } from "../reading/placeholder.ts";
import { leads, positionOf } from "../schema.ts";

/** Prepares deleting leads of an account; to be called within a transaction. */
export function openDeletion(database: Connection, account: number): (lead: Lead) => void {
  const position = eq(leads.position, positionOf(sql`${account}`, placeholder.integer("ms")));
  const one = database
    .delete(leads)
    .where(and(position, eq(leads.uuid, placeholder.blob("uuid"))))
    .prepare();
  return ({ id, identified_at: at }) => {
    one.run({ ms: Date.parse(at), uuid: bytesOf(id) });
  };
}
