/** The relational file as Drizzle sees it. */
import { getTableColumns } from "drizzle-orm";
import { integer, sqliteTable, text } from "drizzle-orm/sqlite-core";

export const accounts = sqliteTable("accounts", { number: integer().primaryKey(), active: integer().notNull() });
export const keys = sqliteTable("keys", {
  number: integer().primaryKey(),
  account: integer().notNull(),
  digest: text().notNull(),
  revoked_at: text(),
});
export const pixels = sqliteTable("pixels", { account: integer().notNull(), id: text().notNull() });
export const usage = sqliteTable("usage", {
  key: integer().notNull(),
  day: text().notNull(),
  requests: integer().notNull(),
});
const served = {
  id: text().notNull(),
  identified_at: text().notNull(),
  pixel_id: text().notNull(),
  name: text(),
  email: text(),
  verified_email: text(),
  phone: text(),
  company: text(),
  city: text(),
  state: text(),
  gender: text(),
  age_range: text(),
  income_range: text(),
  net_worth: text(),
  marital_status: text(),
  homeowner: text(),
  children: text(),
  page_url: text(),
  referrer: text(),
  traffic_source: text(),
};
export const leads = sqliteTable("leads", { account: integer().notNull(), ...served, city_key: text() });

export const { account: accountColumn, city_key: cityKeyColumn, ...columns } = getTableColumns(leads);
