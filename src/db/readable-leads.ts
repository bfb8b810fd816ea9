/** The view `leads`, for people who read the file with SQLite tools. The program queries the table instead. */
import { sql } from "drizzle-orm";
import { integer, sqliteView, text } from "drizzle-orm/sqlite-core";
import { leadFields } from "../contract/lead.ts";

/** Columns generated from the document would give the same, but are computed at every insert: imports took a fifth longer. */
export const readableLeads = sqliteView("leads", {
  account: integer().notNull(),
  identifiedMs: integer("identified_ms").notNull(),
  ...Object.fromEntries(leadFields.map((field) => [field, text(field)])),
}).as(
  sql.raw(
    `SELECT account, identified_at AS identified_ms, ${leadFields
      .map((field) => (field === "state" ? "state" : `doc ->> '$.${field}' AS ${field}`))
      .join(", ")} FROM stored_leads`,
  ),
);
