/**
 * Values of a prepared statement that SQLite cannot look at beforehand. SQLite looks at a bare parameter next to `=` or
 * LIMIT to guess the number of rows, and prepares the statement anew whenever one is bound: that took longer than
 * reading a page. It does not look behind a CAST. The plan is fixed anyway, and a test holds it.
 */
import { type Placeholder, type SQL, sql } from "drizzle-orm";

export const placeholder = {
  blob: (name: string): SQL => sql`CAST(${sql.placeholder(name)} AS BLOB)`,
  integer: (name: string): SQL => sql`CAST(${sql.placeholder(name)} AS INTEGER)`,
  // Drizzle prints any SQL here, but its types allow only numbers and placeholders.
  limit: (name: string) => placeholder.integer(name) as unknown as Placeholder,
  text: (name: string): SQL => sql`CAST(${sql.placeholder(name)} AS TEXT)`,
};
