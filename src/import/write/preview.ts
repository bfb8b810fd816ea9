/** The changes that an import would make, counted from the staged and the stored leads before the first lead is written. */
import type { Database } from "bun:sqlite";
import { sql } from "drizzle-orm";
import type { AccountNumber } from "../../db/accounts.ts";
import type { Connection } from "../../db/connection.ts";
import type { ImportOptions } from "../new-lead.ts";
import type { Staging, Summary } from "./staging.ts";

/** Only this many staged leads are compared, oldest first: a file overlaps with an earlier one at that end. */
const maxCompared = 5_000;
/** Each is compared with this many stored leads: where times are dates, thousands of leads share a minute. */
const maxComparedEach = 100;
const minuteMs = 60_000;
/** Ties move a lead by some milliseconds. */
const tiedMs = 10;
/** A tie or a clock moves a lead by minutes at most. */
const farMs = 60 * minuteMs;

/** The changes that an import would make, and signs that its file or its options are wrong. */
export interface Preview extends Omit<Summary, "moved"> {
  /** The number of leads with the ID of another lead of the file, but another time or page. */
  readonly sharingIds: number;
  /** The number of leads with the ID of a stored lead, but another time or, without a time, another email address. */
  readonly takenIds: number;
  /** The number of leads with the time, page, and visitor of a stored lead that has another ID. Both would be kept. */
  readonly changedVisits: number;
  /** The same for the minute of a stored lead, if no staged lead has a time with seconds. */
  readonly cutVisits: number;
  /** The number of stored leads whose email address would be replaced by another one. */
  readonly changedEmails: number;
}

/**
 * Counts the changes that an import of the staged leads would make. The staged leads must be sorted, and the connection must
 * be the one that has the staging tables.
 */
export function readPreview(
  database: Connection,
  account: AccountNumber,
  staging: Pick<Staging, "summarize">,
  { onDuplicate, mayShareIds }: Pick<ImportOptions, "onDuplicate"> & { readonly mayShareIds: boolean },
): Preview {
  const count = (query: ReturnType<typeof sql>) => database.values<[number]>(query)[0]?.[0] ?? 0;
  const newest = count(sql`SELECT max(identified_at) FROM stored_leads WHERE account = ${account}`) || null;
  const { moved: _, ...summary } = staging.summarize(0, Number.MAX_SAFE_INTEGER, newest);
  const sameVisits = (withinMs: number) => count(sameVisit(account, newest, withinMs));
  const hasSeconds = count(sql`SELECT EXISTS (SELECT 1 FROM temp.staged WHERE at % ${minuteMs} <> 0)`) === 1;
  const changedVisits = newest === null ? 0 : sameVisits(tiedMs);
  return {
    ...summary,
    sharingIds: mayShareIds ? countSharingIds(database.$client) : 0,
    takenIds: mayShareIds ? count(takenId(account)) : 0,
    changedVisits,
    cutVisits: newest === null || hasSeconds ? 0 : sameVisits(minuteMs) - changedVisits,
    changedEmails: onDuplicate === "replace" ? count(changedEmail(account)) : 0,
  };
}

/** The staged leads that are compared. */
const oldest = sql`oldest AS MATERIALIZED (
  SELECT staged.* FROM temp.in_order CROSS JOIN temp.staged ON staged.position = in_order.lead
  WHERE in_order.position <= ${maxCompared}
)`;

/** An ID that is made of a row is no such ID: it says which rows are one. */
function takenId(account: AccountNumber) {
  return sql`
    WITH ${oldest}
    SELECT count(*) FROM oldest
      CROSS JOIN stored_leads AS stored ON stored.account = ${account} AND stored.uuid = oldest.uuid
    WHERE abs(oldest.at - stored.identified_at) > ${farMs}
      OR (oldest.at IS NULL AND lower(doc ->> '$.email') <> lower(document ->> '$.email'))`;
}

/** A visitor is known by an email address or by a name. */
function sameVisit(account: AccountNumber, newestMs: number | null, withinMs: number) {
  const same = (field: string) => sql.raw(`doc ->> '$.${field}' = document ->> '$.${field}'`);
  return sql`
    WITH ${oldest}
    SELECT count(*) FROM oldest
    WHERE oldest.at <= ${newestMs} AND EXISTS (
      SELECT 1 FROM (
        SELECT doc FROM stored_leads AS stored
        WHERE stored.account = ${account} AND identified_at >= oldest.at AND identified_at < oldest.at + ${withinMs}
        ORDER BY identified_at LIMIT ${maxComparedEach}
      )
      WHERE ${same("pixel_id")} AND doc ->> '$.page_url' IS document ->> '$.page_url'
        AND (${same("email")} OR ${same("name")})
    ) AND NOT EXISTS (SELECT 1 FROM stored_leads AS stored WHERE account = ${account} AND stored.uuid = oldest.uuid)`;
}

function changedEmail(account: AccountNumber) {
  return sql`
    SELECT count(DISTINCT staged.uuid) FROM temp.staged
      CROSS JOIN stored_leads AS stored ON stored.account = ${account} AND stored.uuid = staged.uuid
      CROSS JOIN pixels ON pixels.number = stored.pixel AND pixels.id = staged.pixel
    WHERE doc ->> '$.email' IS NOT NULL AND lower(doc ->> '$.email') IS NOT lower(document ->> '$.email')`;
}

/** Leads that share an ID, but not their time and page: the ID may be that of the person and not that of the visit. */
function countSharingIds(client: Database): number {
  client.run("CREATE TEMP TABLE IF NOT EXISTS shared AS SELECT uuid FROM staged GROUP BY uuid HAVING count(*) > 1");
  if (client.query("SELECT 1 FROM shared LIMIT 1").get() === null) return 0;
  const found = client
    .query<{ leads: number }, []>(`
      SELECT total(leads) AS leads FROM (
        SELECT count(*) AS leads FROM staged WHERE uuid IN (SELECT uuid FROM shared) GROUP BY uuid
        HAVING count(DISTINCT ifnull(at, 0)) > 1 OR count(DISTINCT ifnull(document ->> '$.page_url', '')) > 1
      )`)
    .get();
  return found?.leads ?? 0;
}
