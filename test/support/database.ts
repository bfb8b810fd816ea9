/** The database of a test, and what is in it before the test begins. */
import { Database } from "bun:sqlite";
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { sql } from "drizzle-orm";
import { createKey, digestOf, prefixOf } from "../../src/contract/key.ts";
import type { Lead } from "../../src/contract/lead.ts";
import type { Pixel } from "../../src/contract/pixel.ts";
import {
  type Account,
  type AccountNumber,
  createAccount,
  findAccount,
  setSubscription,
} from "../../src/db/accounts.ts";
import { readLeadGroups } from "../../src/db/all-leads.ts";
import type { LeadDatabase } from "../../src/db/connection.ts";
import { findKeyByDigest, createKey as storeKey } from "../../src/db/keys.ts";
import { openFileDatabase } from "../../src/db/open.ts";
import { createPixel } from "../../src/db/pixels.ts";
import type { ImportOptions, ImportOutcome, NewLead } from "../../src/import/new-lead.ts";
import { type Destination, LeadWriter, openDestination } from "../../src/import/write/lead-writer.ts";
import { newLead, noonMs } from "./builders.ts";
import { watchDatabases } from "./closing.ts";

const templates = new Map<string, Uint8Array>();

/** The bytes of a database with accounts. Writing them takes a tenth of the time of the migrations. */
function templateWith(accounts: readonly string[]): Uint8Array {
  const known = templates.get(accounts.join());
  if (known !== undefined) return known;
  const folder = mkdtempSync(join(tmpdir(), "leadfile-template-"));
  const database = openFileDatabase(join(folder, "leadfile.db"));
  for (const name of accounts) anAccount(database, { name, createdMs: 0 });
  // Each copy makes its own when it is opened.
  database.read.run(sql`DELETE FROM instances`);
  const template = database.read.$client.serialize();
  database.close();
  rmSync(folder, { recursive: true });
  templates.set(accounts.join(), template);
  return template;
}

/** Creates a database with accounts, which no program has open. */
export function createDatabase(path: string, accounts: readonly string[] = []): void {
  mkdirSync(dirname(path), { recursive: true });
  const bytes = Buffer.from(templateWith(accounts));
  // No other file has its accounts. The ends of their IDs change nothing in the order of an index.
  const end = crypto.randomUUID().slice(0, 8);
  for (let at = bytes.indexOf("acc_"); at !== -1; at = bytes.indexOf("acc_", at + 1))
    bytes.write(end, at + 12, "latin1");
  writeFileSync(path, bytes, { mode: 0o600 });
  if (accounts.length === 0) return;
  // The first to open it writes its instance, which a command must not have to do while a test locks the file.
  const closeDatabases = watchDatabases();
  openFileDatabase(path);
  closeDatabases();
}

/** Opens the database at a path, which is created if need be. */
export function openTestDatabase(path: string): LeadDatabase {
  if (!existsSync(path)) createDatabase(path);
  return openFileDatabase(path);
}

/**
 * Writes to a file, which is done when the function of the product returns. Ignores a failure after that: the function may
 * read its result when the test has closed the database.
 */
export const written = (work: Promise<unknown>): void => void work.catch(() => undefined);

export interface AccountSetup {
  /** By default, a name that no other account has. */
  readonly name?: string;
  readonly createdMs?: number;
  readonly leads?: readonly Lead[];
  /** Beside those of the leads, and before them. */
  readonly pixels?: readonly Pixel[];
  readonly active?: boolean;
}

let accountsMade = 0;

/** Creates an account with its pixels and leads. */
export function anAccount(database: LeadDatabase, setup: AccountSetup = {}): Account {
  const { name = `Account ${++accountsMade}`, createdMs = noonMs, leads = [], pixels = [], active = true } = setup;
  written(createAccount(database, name, createdMs));
  const account = findAccount(database.read, name);
  if (account === null) throw new Error(`the account ${name} was not created`);
  for (const pixel of pixels) written(createPixel(database, account.number, pixel, noonMs));
  importLeads(database, account.number, leads.map(newLead));
  if (!active) written(setSubscription(database, account, false, noonMs));
  return account;
}

/** Creates a key of an account. Returns its record, and the key itself. */
export function aKey(database: LeadDatabase, account: Account, expiresMs: number | null = null) {
  const secret = createKey();
  const digest = digestOf(secret);
  written(storeKey(database, account, { digest, prefix: prefixOf(secret), label: null, expiresMs }, noonMs));
  const record = findKeyByDigest(database.read, digest);
  if (record === null) throw new Error("the key was not stored");
  return { secret, ...record };
}

const ordinaryImport: ImportOptions = { onDuplicate: "skip", createPixels: true, dryRun: false };

/** Writes leads to a destination, in their order, and returns the outcome of each. They belong to no import. */
export function writeLeads(
  destination: Destination,
  leads: readonly NewLead[],
  { nowMs, ...options }: ImportOptions & { readonly nowMs: number },
): ImportOutcome[] {
  const writer = new LeadWriter(destination, { importNumber: 0, nowMs, stampMs: nowMs }, options);
  return leads.map((lead) => writer.write(lead));
}

/** Imports leads in one transaction, and returns the outcome of each. */
export function importLeads(
  { read }: LeadDatabase,
  account: AccountNumber,
  leads: readonly NewLead[],
  { nowMs = noonMs, ...options }: Partial<ImportOptions> & { nowMs?: number } = {},
): ImportOutcome[] {
  const write = () =>
    writeLeads(openDestination(read, account, nowMs), leads, { ...ordinaryImport, ...options, nowMs });
  // A transaction that begins with reading fails once another program writes; one that begins so waits.
  return read.transaction(write, { behavior: "immediate" });
}

/** The leads of an account as they are served, oldest first. */
export const documentsOf = ({ read }: LeadDatabase, account: AccountNumber): string[] =>
  [...readLeadGroups(read, account)].flat().map(({ doc }) => doc);

/**
 * Copies the only lead that has the email address d0@example.com: d1@example.com is a millisecond newer, and so on. As the
 * setup of a test, this takes a tenth of the time of an import.
 */
export function copyLead({ file }: { readonly file: string }, copies: number, pageUrl: string | null = null): void {
  using database = new Database(file);
  const { changes } = database.run(
    `WITH RECURSIVE copies (n) AS (VALUES (1) UNION ALL SELECT n + 1 FROM copies WHERE n < ?)
     INSERT INTO stored_leads (account, identified_at, uuid, pixel, state, city_key, has_email, import, doc)
     SELECT account, identified_at + n, unhex(printf('00000000000080008000%012x', n)), pixel, state, city_key, has_email,
       import, json_set(doc, '$.id', printf('00000000-0000-8000-8000-%012x', n), '$.identified_at',
         strftime('%Y-%m-%dT%H:%M:%fZ', (identified_at + n) / 1000.0, 'unixepoch'),
         '$.email', 'd' || n || '@example.com', '$.page_url', ?)
     FROM stored_leads, copies WHERE doc LIKE '%"d0@example.com"%'`,
    [copies, pageUrl],
  );
  if (changes !== copies) throw new Error(`${changes} leads were added, not ${copies}`);
}
