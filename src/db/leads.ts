/** Pages of leads (§4.1): one prepared statement for each combination of filters, each through the index made for it. */
import { and, desc, eq, getTableName, gte, lt, type SQL, sql } from "drizzle-orm";
import { unionAll } from "drizzle-orm/sqlite-core";
import { afterLatestMs, earliestMs } from "../contract/calendar.ts";
import { namesOf } from "../contract/names.ts";
import type { LeadFilter, LeadQuery } from "../contract/parameters.ts";
import type { AccountNumber } from "./accounts.ts";
import type { Connection } from "./connection.ts";
import { pixelOfAccount } from "./pixels.ts";
import { placeholder } from "./placeholder.ts";
import { leads, pixels } from "./schema.ts";

/** Prepares the statement of one combination of filters, newest lead first. */
export function preparePage(database: Connection, filters: readonly LeadFilter[]) {
  const ofAccount = eq(leads.account, placeholder.integer("account"));
  const sinceMs = placeholder.integer("sinceMs");
  const beforeMs = placeholder.integer("beforeMs");
  // Drizzle does not know the columns of a source that is written as SQL.
  const identifiedAt = sql<number>`identified_at`;
  const select = (...conditions: SQL[]) =>
    database
      // The document is read as bytes, because it is sent as bytes. A text in between cost a tenth of a page.
      .select({ doc: sql<Uint8Array>`CAST(doc AS BLOB)`, identifiedAt, number: sql<number>`number` })
      .from(sourceFor(filters))
      .where(and(ofAccount, ...conditions, gte(leads.identifiedAt, sinceMs), lt(leads.identifiedAt, beforeMs)));
  const order = desc(identifiedAt);
  const limit = placeholder.limit("rows");
  if (filters.length === 0) return select().orderBy(order).limit(limit).prepare();
  const conditions = filterConditions(database, filters);
  // In an index, the leads with an email address and those without are apart, each half from the oldest to the newest.
  const half = (hasEmail: SQL) => select(...conditions, eq(leads.hasEmail, hasEmail));
  if (filters.includes("has_email")) return half(sql`1`).orderBy(order).limit(limit).prepare();
  return unionAll(half(sql`1`), half(sql`0`)).orderBy(order).limit(limit).prepare();
}

/** The condition of each filter. The one on the email address chooses a half of the index instead. */
function filterConditions(database: Connection, filters: readonly LeadFilter[]): SQL[] {
  const pixel = database.select({ number: pixels.number }).from(pixels).where(pixelOfAccount);
  const all: Readonly<Record<LeadFilter, SQL | null>> = {
    pixel_id: eq(leads.pixel, pixel),
    state: eq(leads.state, placeholder.text("state")),
    city: eq(leads.cityKey, placeholder.text("city")),
    has_email: null,
  };
  return filters.flatMap((filter) => all[filter] ?? []);
}

/**
 * The index that a combination of filters is made for. By itself the planner takes the key of the table for any of them and
 * reads the whole account: it does not know how rare a state is, and should not guess.
 */
function sourceFor(filters: readonly LeadFilter[]): SQL {
  const columns = filters.filter((filter) => filter !== "has_email").map((filter) => filter.replace("_id", ""));
  const name = columns.length > 0 ? columns.join("_") : filters.length > 0 ? "email" : "time";
  return sql.raw(`${getTableName(leads)} INDEXED BY leads_by_${name}`);
}

/** A page as it was read. */
export type LeadPage = ReturnType<ReturnType<typeof openLeads>["page"]>;

/** Returns the reader of pages, newest lead first. A statement is prepared when its filters are first requested. */
export function openLeads(database: Connection) {
  const statements = new Map<string, ReturnType<typeof preparePage>>();

  return {
    page(account: AccountNumber, { limit, beforeMs, sinceMs, filters }: LeadQuery) {
      const used = namesOf(filters).filter((name) => filters[name] !== undefined);
      const statement = statements.getOrInsertComputed(used.join(), () => preparePage(database, used));
      // One row more than requested determines has_more without a second query. It is never served.
      const rows = statement.values({
        account,
        ...filters,
        sinceMs: sinceMs ?? earliestMs,
        beforeMs: beforeMs ?? afterLatestMs,
        rows: limit + 1,
      });
      const hasMore = rows.length > limit;
      if (hasMore) rows.pop();
      const [, newestMs = null] = rows[0] ?? [];
      return {
        /** Stored documents in UTF-8, to be served as they are. */
        documents: rows.map(([document]) => document),
        /** The time of the last lead if there are more, in Unix milliseconds; otherwise null. */
        nextMs: hasMore ? (rows.at(-1)?.[1] ?? null) : null,
        /** The time of the first lead; null for a page without leads. */
        newestMs,
        /** The numbers of the leads, for the ledger of what was sent. */
        numbers: rows.map(([, , number]) => number),
      };
    },
  };
}
