/** Usage (§2.4) in the file: what was kept of it, and how counts are added. */
import { and, between, eq, sql } from "drizzle-orm";
import type { Connection } from "./connection.ts";
import { usage } from "./schema.ts";
import type { UsagePart, UsageReader } from "./usage-counter.ts";

/** Reads what is kept; it writes nothing. */
export function openUsageReader(database: Connection): UsageReader {
  const kept = database
    .select({ day: usage.day, requests: usage.requests })
    .from(usage)
    .where(
      and(eq(usage.key, sql.placeholder("key")), between(usage.day, sql.placeholder("first"), sql.placeholder("last"))),
    )
    .prepare();
  return { between: (key, first, last) => kept.all({ key, first, last }) };
}

/** Adds a part in one statement: one for each key took a tenth of a second where thousands of keys call. */
export function addUsage(database: Connection, { day, counts }: UsagePart): void {
  database.run(sql`
    INSERT INTO ${usage} (key, day, requests)
    SELECT value ->> 0, ${day}, value ->> 1 FROM json_each(${JSON.stringify(counts)}) WHERE TRUE
    ON CONFLICT DO UPDATE SET requests = requests + excluded.requests`);
}
