/** The statement of a page of leads, one for each combination of filters, each through the index that is made for it. */
import { and, desc, eq, getTableName, gte, lt, type SQL, sql } from "drizzle-orm";
import { unionAll } from "drizzle-orm/sqlite-core";
import type { Connection } from "./connection.ts";
import { pixelOfAccount } from "./pixels.ts";
import { placeholder } from "./placeholder.ts";
import { leads, pixels } from "./schema.ts";

/** Which filters a statement has. */
export type Filters = Readonly<Record<"pixel" | "state" | "city" | "email", boolean>>;

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

/** The statement of one combination of filters, newest lead first. */
export function preparePage(database: Connection, filters: Filters) {
  const select = (...conditions: SQL[]) =>
    database
      .select(columns)
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
  if (filters.email) return half(sql`1`).orderBy(order).limit(limit).prepare();
  return unionAll(half(sql`1`), half(sql`0`)).orderBy(order).limit(limit).prepare();
}

function filterConditions(database: Connection, filters: Filters): SQL[] {
  const conditions: SQL[] = [];
  if (filters.pixel) {
    const pixel = database.select({ number: pixels.number }).from(pixels).where(pixelOfAccount);
    conditions.push(eq(leads.pixel, pixel));
  }
  if (filters.state) conditions.push(eq(leads.state, placeholder.text("state")));
  if (filters.city) conditions.push(eq(leads.cityKey, placeholder.text("city")));
  return conditions;
}

/**
 * The index that a combination of filters is made for. Left to itself the planner takes the key of the table for any of
 * them and reads the whole account: it knows nothing of how rare a state is, and should not guess.
 */
function sourceFor({ pixel, state, city, email }: Filters): SQL {
  const filtered = [pixel && "pixel", state && "state", city && "city"].filter((name) => name !== false);
  const name = filtered.length > 0 ? filtered.join("_") : email ? "email" : "time";
  return sql.raw(`${getTableName(leads)} INDEXED BY leads_by_${name}`);
}
