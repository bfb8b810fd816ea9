/**
 * Copies leads into an SQLite file, for as long as it runs.
 *
 *   LEADFILE_KEY=lf_… bun examples/leads-to-sqlite.ts https://www.example.com copy.db
 *
 * The leads and the checkpoint after them are written in one transaction, so every lead is in the file exactly once, also
 * after a crash. The same works in PostgreSQL and every other database with transactions.
 */
import { Database } from "bun:sqlite";
import { type Duration, type Lead, Leadfile } from "@leadfile/client";

const [baseUrl = "http://127.0.0.1:3000", path = "copy.db", every = "30s"] = process.argv.slice(2);
const key = process.env["LEADFILE_KEY"];
if (!key) {
  process.stderr.write("Set LEADFILE_KEY to an API key.\n");
  process.exit(2);
}
const leadfile = new Leadfile({ baseUrl, key });
const stop = new AbortController();
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => stop.abort());

process.umask(0o077);
const db = new Database(path, { strict: true });
// Another program may read the file at any time.
db.run("PRAGMA busy_timeout = 10000");
db.run("PRAGMA journal_mode = WAL");
db.run(`CREATE TABLE IF NOT EXISTS leads (
  id TEXT PRIMARY KEY, identified_at TEXT NOT NULL, pixel_id TEXT NOT NULL, name TEXT, email TEXT, company TEXT,
  city TEXT, state TEXT, page_url TEXT) STRICT`);
db.run("CREATE TABLE IF NOT EXISTS progress (only INTEGER PRIMARY KEY CHECK (only = 1), checkpoint TEXT) STRICT");

const insert = db.query(`INSERT INTO leads
  VALUES ($id, $identified_at, $pixel_id, $name, $email, $company, $city, $state, $page_url)`);
const advance = db.query("INSERT OR REPLACE INTO progress VALUES (1, $checkpoint)");
const keep = db.transaction((leads: readonly Lead[], checkpoint: string) => {
  for (const { id, identified_at, pixel_id, name, email, company, city, state, page_url } of leads) {
    insert.run({ id, identified_at, pixel_id, name, email, company, city, state, page_url });
  }
  advance.run({ checkpoint });
});

const last = db.query<{ checkpoint: string }, []>("SELECT checkpoint FROM progress").get();
const onError = ({ message }: Error) => void process.stderr.write(`${message} The next poll tries again.\n`);
// The client checks `every`, and says what it accepts.
const options = { every: every as Duration, checkpoint: last?.checkpoint, signal: stop.signal, onError };
for await (const { leads, checkpoint } of leadfile.leads.batches(options)) keep(leads, checkpoint);
db.close();
