/** All leads of an account, for an export and for what is proven of a copy. */
import { and, asc, eq, gt } from "drizzle-orm";
import { earliestMs } from "../contract/calendar.ts";
import type { AccountNumber } from "./accounts.ts";
import type { Connection } from "./connection.ts";
import { leads } from "./schema.ts";

/** All documents of an account, oldest first, in groups: no group holds up a writer or the log for long. */
export function* exportDocuments(database: Connection, account: AccountNumber): Generator<readonly string[]> {
  let lastMs = earliestMs - 1;
  for (;;) {
    const rows = database
      .select({ doc: leads.doc, identifiedAt: leads.identifiedAt })
      .from(leads)
      .where(and(eq(leads.account, account), gt(leads.identifiedAt, lastMs)))
      .orderBy(asc(leads.identifiedAt))
      .limit(1000)
      .all();
    const last = rows[rows.length - 1];
    if (last === undefined) return;
    yield rows.map((row) => row.doc);
    lastMs = last.identifiedAt;
  }
}
