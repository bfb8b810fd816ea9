/** Pages of leads (§4.1): one prepared statement for each combination of filters, each through the index made for it. */
import { and, desc, eq, getTableName, gte, lt, type SQL, sql } from "drizzle-orm";
import { unionAll } from "drizzle-orm/sqlite-core";
import { afterLatestMs, earliestMs } from "../contract/calendar.ts";
import { filterNames, filters, indexOf, type LeadFilter } from "../contract/filters.ts";
import type { LeadQuery } from "../contract/parameters.ts";
import type { AccountNumber } from "./accounts.ts";
import type { Connection } from "./connection.ts";
import { placeholder } from "./placeholder.ts";
import { leads } from "./schema.ts";

/** Prepares the statement of one combination of filters, newest lead first. */
export function preparePage(database: Connection, used: readonly LeadFilter[]) {
  const ofAccount = eq(leads.account, placeholder.integer("account"));
  const sinceMs = placeholder.integer("sinceMs");
  const beforeMs = placeholder.integer("beforeMs");
  // Drizzle does not know the columns of a source that is written as SQL.
  const identifiedAt = sql<number>`identified_at`;
  const select = (...conditions: SQL[]) =>
    database
      // The document is read as bytes, because it is sent as bytes. A text in between cost a tenth of a page.
      .select({ doc: sql<Uint8Array>`CAST(doc AS BLOB)`, identifiedAt, number: sql<number>`number` })
      .from(sourceFor(used))
      .where(and(ofAccount, ...conditions, gte(leads.identifiedAt, sinceMs), lt(leads.identifiedAt, beforeMs)));
  const order = desc(identifiedAt);
  const limit = placeholder.limit("rows");
  if (used.length === 0) return select().orderBy(order).limit(limit).prepare();
  const conditions = used.filter((name) => name !== "has_email").map(conditionOf);
  // In an index, the leads with an email address and those without are apart, each half from the oldest to the newest.
  const half = (hasEmail: SQL) => select(...conditions, eq(leads.hasEmail, hasEmail));
  if (used.includes("has_email")) return half(sql`1`).orderBy(order).limit(limit).prepare();
  return unionAll(half(sql`1`), half(sql`0`)).orderBy(order).limit(limit).prepare();
}

/** Returns the condition of a filter. */
function conditionOf(name: LeadFilter): SQL {
  const { column, equals } = filters[name];
  const parts = equals.split(/(:account|:key)/).map((part) => {
    if (part === ":account") return placeholder.integer("account");
    return part === ":key" ? placeholder.text(name) : sql.raw(part);
  });
  return sql`${sql.raw(column)} = ${sql.join(parts)}`;
}

/**
 * The source of a page: the leads through the index that their filters are made for. By itself the planner takes the key of
 * the table and reads the whole account: it does not know how rare a state is, and should not guess.
 */
function sourceFor(used: readonly LeadFilter[]): SQL {
  return sql.raw(`${getTableName(leads)} INDEXED BY ${indexOf(used)}`);
}

/** A page as it was read. */
export type LeadPage = ReturnType<ReturnType<typeof openLeads>["page"]>;

/** Returns the reader of pages, newest lead first. A statement is prepared when its filters are first requested. */
export function openLeads(database: Connection) {
  const statements = new Map<string, ReturnType<typeof preparePage>>();

  return {
    page(account: AccountNumber, { limit, beforeMs, sinceMs, filters: keys }: LeadQuery) {
      const used = filterNames.filter((name) => keys[name] !== undefined);
      const statement = statements.getOrInsertComputed(used.join(), () => preparePage(database, used));
      // One row more than requested determines has_more without a second query. It is never served.
      const rows = statement.values({
        account,
        ...keys,
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
