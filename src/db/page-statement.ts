/** The statement of a page of leads, one for each combination of filters, each through the index that is made for it. */
import { and, desc, eq, getTableName, gte, lt, type SQL, sql } from "drizzle-orm";
import { unionAll } from "drizzle-orm/sqlite-core";
import { namesOf } from "../contract/names.ts";
import type { LeadFilter } from "../contract/parameters.ts";
import type { Connection } from "./connection.ts";
import { pixelOfAccount } from "./pixels.ts";
import { placeholder } from "./placeholder.ts";
import { imports, leads, pixels } from "./schema.ts";

/** The filters that a statement has. */
export type Filters = Readonly<Record<LeadFilter, boolean>>;

const account = placeholder.integer("account");
const sinceMs = placeholder.integer("sinceMs");
const beforeMs = placeholder.integer("beforeMs");
const limit = placeholder.limit("rows");

/** Drizzle does not know the columns of a source that is written as SQL, so they are named as SQL, too. */
const columns = {
  // The document is read as bytes, because it goes out as bytes. A text in between cost a tenth of a page.
  doc: sql<Uint8Array>`CAST(doc AS BLOB)`,
  identifiedAt: sql<number>`identified_at`,
};

/** The newest import that a page can contain, in the same statement: twice its number, plus one if it is complete. */
const newestImport = (database: Connection) =>
  database
    .select({ seen: sql<number>`2 * ${imports.number} + (${imports.finishedAt} IS NOT NULL)` })
    .from(imports)
    .where(eq(imports.account, account))
    .orderBy(desc(imports.number))
    .limit(1);

/** The statement of one combination of filters, newest lead first. */
export function preparePage(database: Connection, filters: Filters) {
  const select = (...conditions: SQL[]) =>
    database
      .select({ ...columns, seen: sql<number | null>`(${newestImport(database)})` })
      .from(sourceFor(filters))
      .where(
        and(
          eq(leads.account, account),
          ...conditions,
          gte(leads.identifiedAt, sinceMs),
          lt(leads.identifiedAt, beforeMs),
        ),
      );
  const order = desc(columns.identifiedAt);
  if (!Object.values(filters).includes(true)) return select().orderBy(order).limit(limit).prepare();
  const conditions = filterConditions(database, filters);
  // In an index, the leads with an e-mail and those without lie apart, each half from the oldest to the newest.
  const half = (hasEmail: SQL) => select(...conditions, eq(leads.hasEmail, hasEmail));
  if (filters.hasEmail) return half(sql`1`).orderBy(order).limit(limit).prepare();
  return unionAll(half(sql`1`), half(sql`0`)).orderBy(order).limit(limit).prepare();
}

/** The condition of each filter. The one on the email address chooses a half of the index instead. */
function filterConditions(database: Connection, filters: Filters): SQL[] {
  const pixel = database.select({ number: pixels.number }).from(pixels).where(pixelOfAccount);
  const all: Readonly<Record<LeadFilter, SQL | null>> = {
    pixelId: eq(leads.pixel, pixel),
    state: eq(leads.state, placeholder.text("state")),
    city: eq(leads.cityKey, placeholder.text("city")),
    hasEmail: null,
  };
  return namesOf(all).flatMap((name) => (filters[name] ? (all[name] ?? []) : []));
}

/**
 * The index that a combination of filters is made for. Left to itself the planner takes the key of the table for any of
 * them and reads the whole account: it knows nothing of how rare a state is, and should not guess.
 */
function sourceFor({ pixelId, state, city, hasEmail }: Filters): SQL {
  const filtered = [pixelId && "pixel", state && "state", city && "city"].filter((name) => name !== false);
  const name = filtered.length > 0 ? filtered.join("_") : hasEmail ? "email" : "time";
  return sql.raw(`${getTableName(leads)} INDEXED BY leads_by_${name}`);
}
