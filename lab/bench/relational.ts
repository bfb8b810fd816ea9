/** The same leads as a user would store them: a plain relational schema with one column per field. */
import { Database } from "bun:sqlite";
import { leadFields } from "../../src/contract/lead.ts";
import { note } from "../progress.ts";

/** A column for each field, and one for searches; times are texts of one form, which sort by time. */
const schema = `
  PRAGMA page_size = 8192;
  PRAGMA journal_mode = WAL;
  CREATE TABLE accounts (number INTEGER PRIMARY KEY, name TEXT NOT NULL, active INTEGER NOT NULL) STRICT;
  CREATE TABLE keys (
    number INTEGER PRIMARY KEY, account INTEGER NOT NULL REFERENCES accounts (number),
    digest TEXT NOT NULL UNIQUE, revoked_at TEXT
  ) STRICT;
  CREATE TABLE pixels (account INTEGER NOT NULL, id TEXT NOT NULL, status TEXT NOT NULL, PRIMARY KEY (account, id)) STRICT;
  CREATE TABLE usage (
    key INTEGER NOT NULL, day TEXT NOT NULL, requests INTEGER NOT NULL, PRIMARY KEY (key, day)
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE leads (
    number INTEGER PRIMARY KEY, account INTEGER NOT NULL, ${leadFields.map((field) => `${field} TEXT`).join(", ")},
    city_key TEXT
  ) STRICT;`;

/** One for each filter, as they are usually made. They come after the leads, which is faster. */
const indexes = `
  CREATE UNIQUE INDEX leads_by_id ON leads (account, id);
  CREATE INDEX leads_by_time ON leads (account, identified_at);
  CREATE INDEX leads_by_pixel ON leads (account, pixel_id, identified_at);
  CREATE INDEX leads_by_state ON leads (account, state, identified_at);
  CREATE INDEX leads_by_city ON leads (account, city_key, identified_at);
  ANALYZE;`;

/** Copies a file of Leadfile into a relational one. */
export function makeRelational(path: string, leadfile: string): void {
  note("Writing the same leads into a relational schema.");
  const client = new Database(path, { create: true, readwrite: true });
  const fields = leadFields.join(", ");
  client.run(schema);
  client.run("ATTACH ? AS leadfile", [leadfile]);
  client.run(`
    INSERT INTO accounts SELECT number, name, active FROM leadfile.accounts;
    INSERT INTO keys SELECT number, account, lower(hex(digest)), revoked_at FROM leadfile.keys;
    INSERT INTO pixels SELECT account, id, status FROM leadfile.pixels;
    -- The cities of the demo are ASCII.
    INSERT INTO leads (account, ${fields}, city_key)
      SELECT account, ${fields}, lower(city) FROM leadfile.leads ORDER BY identified_ms;
    ${indexes}
    PRAGMA wal_checkpoint(TRUNCATE);`);
  client.close();
}
