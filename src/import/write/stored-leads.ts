/** The leads of an account, as an import finds and writes them: each statement is prepared once. */
import { and, desc, eq, gte, notExists, sql } from "drizzle-orm";
import { alias } from "drizzle-orm/sqlite-core";
import type { Connection } from "../../db/connection.ts";
import { placeholder } from "../../db/placeholder.ts";
import { leads } from "../../db/schema.ts";
import { bytesOf } from "../../db/uuid.ts";
import type { NewLead } from "../../store/imports.ts";
import type { AccountNumber } from "../../store/reading.ts";

/** Where a lead lies. */
export interface Place {
  readonly at: number;
  /** The number of the import that added it. */
  readonly batch: number;
}

/** Where a lead goes, and as what. */
export interface Placed extends Place {
  readonly pixel: number;
  readonly doc: string;
}

export interface StoredLeads {
  /** False when the moment or the id is taken. */
  insert(lead: NewLead, placed: Placed): boolean;
  /** Gives a lead that is there another content. It stays where it is. */
  replace(lead: NewLead, placed: Placed): void;
  /** Where the newest lead lies; null where there is none. */
  newest(): Place | null;
  /** Where the lead with this id lies; null when there is none. */
  find(id: string): Place | null;
  /** The e-mail address of the lead at a moment; null where it has none, or is not in the file yet. */
  emailAt(ms: number): string | null;
  /** The first free millisecond after one that is taken. */
  firstFree(ms: number): number;
}

const account = placeholder.integer("account");
const at = placeholder.integer("at");
const ofAccount = eq(leads.account, account);
/** A bare placeholder, as SQL: Drizzle types one by itself for inserts, and not for updates. */
const parameter = (name: string) => sql`${sql.placeholder(name)}`;
/** What a lead says, whether it is new or takes the place of another one. */
const content = {
  pixel: parameter("pixel"),
  state: parameter("state"),
  cityKey: parameter("cityKey"),
  hasEmail: parameter("hasEmail"),
  doc: parameter("doc"),
};

export function openStoredLeads(database: Connection, accountNumber: AccountNumber): StoredLeads {
  const places = () => database.select({ at: leads.identifiedAt, batch: leads.import }).from(leads);
  const newest = places().where(ofAccount).orderBy(desc(leads.identifiedAt)).limit(1).prepare();
  const found = places()
    .where(and(ofAccount, eq(leads.uuid, sql.placeholder("uuid"))))
    .prepare();
  const firstFree = prepareFirstFree(database);
  // A dry run has no documents in its own table.
  const email = database
    .select({ email: sql<string | null>`doc ->> '$.email'` })
    .from(sql`main.stored_leads`)
    .where(and(ofAccount, eq(leads.identifiedAt, at)))
    .prepare();

  return {
    insert: prepareInsert(database, accountNumber),
    replace: prepareReplace(database, accountNumber),
    newest: () => newest.get({ account: accountNumber }) ?? null,
    find(id) {
      const [row] = found.values({ account: accountNumber, uuid: bytesOf(id) });
      return row === undefined ? null : { at: row[0], batch: row[1] };
    },
    emailAt: (ms) => email.get({ account: accountNumber, at: ms })?.email ?? null,
    firstFree: (ms) => firstFree.values({ account: accountNumber, at: ms })[0]?.[0] ?? ms + 1,
  };
}

/** Without Drizzle's way to name values, which costs a tenth of an insert. */
function prepareInsert(database: Connection, accountNumber: AccountNumber): StoredLeads["insert"] {
  const { sql: text } = database
    .insert(leads)
    .values({ account, identifiedAt: at, uuid: parameter("uuid"), import: parameter("import"), ...content })
    .onConflictDoNothing()
    .toSQL();
  const insert = database.$client.prepare<unknown, (Buffer | string | number | null)[]>(text);
  return ({ id, state, cityKey, hasEmail }, { batch, pixel, at, doc }) =>
    insert.run(accountNumber, at, bytesOf(id), pixel, state, cityKey, Number(hasEmail), batch, doc).changes > 0;
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
