/** The stored leads and the pixels of an account, as an import finds and writes them. Each statement is prepared once. */
import { and, desc, eq, gte, notExists, sql } from "drizzle-orm";
import { alias } from "drizzle-orm/sqlite-core";
import type { AccountNumber } from "../../db/accounts.ts";
import type { Connection } from "../../db/connection.ts";
import { insertPixel, pixelOfAccount } from "../../db/pixels.ts";
import { placeholder } from "../../db/placeholder.ts";
import { leads, pixels } from "../../db/schema.ts";
import { bytesOf } from "../../db/uuid.ts";
import type { NewLead } from "../new-lead.ts";

/** The position of a stored lead: its time, import, and pixel. */
export interface StoredPosition {
  /** Its time, in Unix milliseconds. */
  readonly at: number;
  /** The number of the import that added it. */
  readonly importNumber: number;
  /** The number of its pixel. */
  readonly pixel: number;
}

/** The position at which a lead is to be stored, with its document. */
export interface Placed extends StoredPosition {
  readonly doc: string;
}

/** The stored leads of one account, for one transaction. */
export interface StoredLeads {
  /** Returns false if the millisecond or the ID is taken. */
  insert(lead: NewLead, placed: Placed): boolean;
  /** Gives a stored lead another content. Its time stays. */
  replace(lead: NewLead, placed: Placed): void;
  /** The newest lead of the account. */
  newest(): StoredPosition | null;
  /** The lead with an ID. */
  find(id: string): StoredPosition | null;
  /** The first free millisecond after one that is taken. */
  firstFree(ms: number): number;
  /** Returns true if the number that SQLite would choose for the next lead may have been that of another one. */
  mustSkipNumbers(): boolean;
}

const account = placeholder.integer("account");
const at = placeholder.integer("at");
const ofAccount = eq(leads.account, account);
/** A bare placeholder as SQL: Drizzle types one by itself for inserts, but not for updates. */
const parameter = (name: string) => sql`${sql.placeholder(name)}`;
const content = {
  pixel: parameter("pixel"),
  state: parameter("state"),
  cityKey: parameter("cityKey"),
  hasEmail: parameter("hasEmail"),
  doc: parameter("doc"),
};

const newestNumber = sql.raw("ifnull((SELECT max(number) FROM stored_leads), 0)");

/** The number of the next lead. None is used twice, not even after the lead was deleted: the ledger of what was sent names leads by it. */
export const nextNumber = sql`(SELECT 1 + max(last, ${newestNumber}) FROM lead_numbers)`;

/** Prepares the statements on the stored leads of an account. */
export function openStoredLeads(database: Connection, accountNumber: AccountNumber): StoredLeads {
  const positions = () =>
    database.select({ at: leads.identifiedAt, importNumber: leads.import, pixel: leads.pixel }).from(leads);
  const newest = positions().where(ofAccount).orderBy(desc(leads.identifiedAt)).limit(1).prepare();
  const found = positions()
    .where(and(ofAccount, eq(leads.uuid, sql.placeholder("uuid"))))
    .prepare();
  const firstFree = prepareFirstFree(database);
  return {
    insert: prepareInsert(database, accountNumber),
    replace: prepareReplace(database, accountNumber),
    newest: () => newest.get({ account: accountNumber }) ?? null,
    find(id) {
      const [row] = found.values({ account: accountNumber, uuid: bytesOf(id) });
      return row === undefined ? null : { at: row[0], importNumber: row[1], pixel: row[2] };
    },
    firstFree: (ms) => firstFree.values({ account: accountNumber, at: ms })[0]?.[0] ?? ms + 1,
    mustSkipNumbers: () => database.values(sql`SELECT 1 WHERE ${nextNumber} > 1 + ${newestNumber}`).length > 0,
  };
}

/** Runs the statement without Drizzle's named values, which cost a tenth of an insert. */
function prepareInsert(database: Connection, accountNumber: AccountNumber): StoredLeads["insert"] {
  const { sql: text } = database
    .insert(leads)
    .values({
      number: nextNumber,
      account,
      identifiedAt: at,
      uuid: parameter("uuid"),
      import: parameter("import"),
      ...content,
    })
    .onConflictDoNothing()
    .toSQL();
  const insert = database.$client.prepare<unknown, (Buffer | string | number | null)[]>(text);
  return ({ id, state, cityKey, hasEmail }, { importNumber, pixel, at, doc }) =>
    insert.run(accountNumber, at, bytesOf(id), pixel, state, cityKey, Number(hasEmail), importNumber, doc).changes > 0;
}

function prepareReplace(database: Connection, accountNumber: AccountNumber): StoredLeads["replace"] {
  const replace = database
    .update(leads)
    .set(content)
    .where(and(ofAccount, eq(leads.identifiedAt, at)))
    .prepare();
  return ({ state, cityKey, hasEmail }, { pixel, at, doc }) =>
    void replace.run({ state, cityKey, hasEmail: Number(hasEmail), pixel, at, doc, account: accountNumber });
}

function prepareFirstFree(database: Connection) {
  const next = alias(leads, "next");
  const follower = database
    .select({ one: sql`1` })
    .from(next)
    .where(and(eq(next.account, leads.account), eq(next.identifiedAt, sql`${leads.identifiedAt} + 1`)));
  return database
    .select({ ms: sql<number>`${leads.identifiedAt} + 1` })
    .from(leads)
    .where(and(ofAccount, gte(leads.identifiedAt, at), notExists(follower)))
    .orderBy(leads.identifiedAt)
    .limit(1)
    .prepare();
}

/** The limit of pixels in memory. A file may name another one in each row. */
const maxKnown = 10_000;

/** Finds and creates the pixels of an account by their IDs, for one transaction. */
export function openPixelNumbers(database: Connection, account: AccountNumber) {
  const one = database.select({ number: pixels.number }).from(pixels).where(pixelOfAccount).prepare();
  const known = new Map<string, number>();

  /** Returns the number of a pixel; null if the account has none of this ID. */
  function find(id: string): number | null {
    const number = known.get(id) ?? one.values({ account, pixel_id: id })[0]?.[0] ?? null;
    if (number !== null && known.size < maxKnown) known.set(id, number);
    return number;
  }

  return {
    find,
    /** Creates a pixel and returns its number. */
    make(id: string, nowMs: number): number {
      const made = insertPixel(database, account, { id, status: "active" }, nowMs);
      return made.returning({ number: pixels.number }).get().number;
    },
  };
}
