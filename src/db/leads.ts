/** Pages of leads (§4.1), read by the prepared statement of their filters. */

import { afterLatestMs, earliestMs } from "../contract/calendar.ts";
import type { LeadQuery } from "../contract/parameters.ts";
import type { AccountNumber } from "./accounts.ts";
import type { Connection } from "./connection.ts";
import { preparePage } from "./page-statement.ts";
import type { LeadReader } from "./serving.ts";

/** Reads pages. A statement is prepared when its combination of filters is first asked for. */
export function openLeads(database: Connection): LeadReader {
  const statements = new Map<string, ReturnType<typeof preparePage>>();

  function statementFor(query: LeadQuery): ReturnType<typeof preparePage> {
    const filters = {
      pixelId: query.pixelId !== null,
      state: query.state !== null,
      city: query.city !== null,
      hasEmail: query.hasEmail === true,
    };
    const combination = Object.values(filters).join();
    return statements.getOrInsertComputed(combination, () => preparePage(database, filters));
  }

  return {
    page(account: AccountNumber, query: LeadQuery) {
      // One row more than asked answers has_more without a second query; it is never served.
      const rows = statementFor(query).values({
        account,
        ...query,
        sinceMs: query.sinceMs ?? earliestMs,
        beforeMs: query.beforeMs ?? afterLatestMs,
        rows: query.limit + 1,
      });
      const hasMore = rows.length > query.limit;
      if (hasMore) rows.pop();
      const [, newestMs, seen = 0] = rows[0] ?? [];
      const oldestMs = rows.at(-1)?.[1];
      // Without a further page there is nothing between `since` and the oldest lead.
      const reachMs = hasMore ? oldestMs : (query.sinceMs ?? oldestMs);
      return {
        documents: rows.map(([document]) => document),
        nextMs: hasMore ? (oldestMs ?? null) : null,
        span: newestMs === undefined ? null : { oldestMs: reachMs ?? newestMs, newestMs, seen: seen ?? 0 },
      };
    },
  };
}
