/** Leads that stay after an erasure, though they hold an identifier of an erased person. */

import type { Connection } from "../db/connection.ts";
import type { Staying } from "../store/privacy.ts";
import type { Account } from "../store/repositories.ts";
import { identifiersOf } from "./identifiers.ts";
import { openLeadAt } from "./one-lead.ts";
import { openSuppressions } from "./suppressions.ts";

/** Tells those that an import would leave out from now on from those that only mention the person. */
export function tellStaying(database: Connection, account: Account, held: ReadonlyMap<number, string>): Staying {
  const leadAt = openLeadAt(database, account.number);
  const isBlocked = openSuppressions(database, account);
  // Somebody may have put another lead in the place of one since it was found.
  const staying = [...held].flatMap(([ms, id]) => leadAt(ms).flatMap(({ lead }) => (lead.id === id ? [lead] : [])));
  const { blocked = [], mentioning = [] } = Object.groupBy(staying, (lead) =>
    isBlocked(identifiersOf(lead)) ? "blocked" : "mentioning",
  );
  return { blocked: blocked.map(({ id }) => id), mentioning: mentioning.map(({ id }) => id) };
}
