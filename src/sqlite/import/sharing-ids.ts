/** Leads of one file that share an id: perhaps it names the person and not the visit. */
import type { Database } from "bun:sqlite";

/** How many leads have the id of another one, but another time or page. */
export function countSharingIds(client: Database): number {
  client.run("CREATE TEMP TABLE shared AS SELECT id FROM staged GROUP BY id HAVING count(*) > 1");
  if (client.query("SELECT 1 FROM shared LIMIT 1").get() === null) return 0;
  const found = client
    .query<{ leads: number }, []>(`
      SELECT total(leads) AS leads FROM (
        SELECT count(*) AS leads FROM staged WHERE id IN (SELECT id FROM shared) GROUP BY id
        HAVING count(DISTINCT ifnull(at, 0)) > 1 OR count(DISTINCT ifnull(document ->> '$.page_url', '')) > 1
      )`)
    .get();
  return found?.leads ?? 0;
}
