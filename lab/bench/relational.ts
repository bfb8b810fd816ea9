/** The same leads as a user would store them: a plain relational schema with one column per field. */
import { Database } from "bun:sqlite";
import { hash } from "node:crypto";
import { demoPixels } from "../../src/cli/demo/leads.ts";
import { leadFields } from "../../src/contract/lead.ts";
import { cityKey } from "../../src/contract/stored-lead.ts";
import { note } from "../progress.ts";
import { leadAt } from "./leads.ts";

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

export function makeRelational(path: string, leads: number, keys: { key: string; revokedKey: string }): void {
  note("Writing the same leads into a relational schema.");
  const client = new Database(path, { create: true, readwrite: true });
  client.run(schema);
  client.run("INSERT INTO accounts VALUES (1, 'bench', 1)");
  const addKey = client.prepare("INSERT INTO keys (account, digest, revoked_at) VALUES (1, ?, ?)");
  addKey.run(hash("sha256", keys.key), null);
  addKey.run(hash("sha256", keys.revokedKey), "2025-01-01T00:00:00.000Z");
  for (const id of demoPixels) client.run("INSERT INTO pixels VALUES (1, ?, 'active')", [id]);
  const columns = ["account", ...leadFields, "city_key"];
  const add = client.prepare(`INSERT INTO leads (${columns}) VALUES (${columns.map(() => "?")})`);
  client.transaction(() => {
    for (let position = 0; position < leads; position++) {
      const lead = leadAt(position, leads);
      add.run(1, ...leadFields.map((field) => lead[field]), lead.city === null ? null : cityKey(lead.city));
    }
  })();
  client.run(indexes);
  client.run("PRAGMA wal_checkpoint(TRUNCATE)");
  client.close();
}
