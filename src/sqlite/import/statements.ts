/** The statements of an import, prepared once and bound to one account. */
import { and, eq, gte, max, notExists, sql } from "drizzle-orm";
import { alias } from "drizzle-orm/sqlite-core";
import type { NewLead } from "../../store/imports.ts";
import type { AccountNumber } from "../../store/reading.ts";
import type { Connection } from "../connection.ts";
import { positionOf } from "../position.ts";
import { placeholder } from "../reading/placeholder.ts";
import { leads } from "../schema.ts";

interface Placing {
  readonly pixel: number;
  readonly at: number;
  readonly doc: string;
}

const account = placeholder.integer("account");
const at = placeholder.integer("at");
const ofAccount = eq(leads.account, account);

export function prepareImport(database: Connection, accountNumber: AccountNumber) {
  const newest = database
    .select({ ms: max(leads.identifiedAt) })
    .from(leads)
    .where(ofAccount)
    .prepare();
  const momentOf = database
    .select({ ms: leads.identifiedAt })
    .from(leads)
    .where(and(ofAccount, eq(leads.uuid, sql.placeholder("uuid"))))
    .prepare();
  const firstFree = prepareFirstFree(database);

  return {
    insert: prepareInsert(database, accountNumber),
    replace: prepareReplace(database, accountNumber),
    newest: () => newest.get({ account: accountNumber })?.ms ?? null,
    /** When the lead with this id was identified; null when there is none. */
    momentOf: (id: string) => momentOf.values({ account: accountNumber, uuid: bytesOf(id) })[0]?.[0] ?? null,
    /** The first free millisecond after one that is taken. */
    firstFree: (ms: number) => firstFree.values({ account: accountNumber, at: ms })[0]?.[0] ?? ms + 1,
  };
}

/** Without Drizzle's way to name values, which costs a tenth of an insert. False when the moment or the id is taken. */
function prepareInsert(database: Connection, accountNumber: AccountNumber) {
  const { sql: text } = database
    .insert(leads)
    .values({
      position: positionOf(account, at),
      ...{ uuid: sql.placeholder("uuid"), pixel: sql.placeholder("pixel"), state: sql.placeholder("state") },
      ...{ cityKey: sql.placeholder("cityKey"), hasEmail: sql.placeholder("hasEmail") },
      ...{ import: sql.placeholder("import"), doc: sql.placeholder("doc") },
    })
    .onConflictDoNothing()
    .toSQL();
  const insert = database.$client.prepare<unknown, (Buffer | string | number | null)[]>(text);
  return ({ id, state, cityKey, hasEmail }: NewLead, { batch, pixel, at, doc }: Placing & { batch: number }): boolean =>
    insert.run(accountNumber, at, bytesOf(id), pixel, state, cityKey, Number(hasEmail), batch, doc).changes > 0;
}

/** A lead that is replaced stays a lead of the batch that added it. */
function prepareReplace(database: Connection, accountNumber: AccountNumber) {
  const content = {
    pixel: sql.placeholder("pixel"),
    state: sql.placeholder("state"),
    cityKey: sql.placeholder("cityKey"),
    hasEmail: sql.placeholder("hasEmail"),
    doc: sql.placeholder("doc"),
  };
  const replace = database
    .update(leads)
    // Drizzle types placeholders for inserts alone, though it binds them here as well.
    .set(content as unknown as Partial<typeof leads.$inferInsert>)
    .where(and(ofAccount, eq(leads.identifiedAt, at)))
    .prepare();
  return ({ state, cityKey, hasEmail }: NewLead, placing: Placing) =>
    replace.run({ state, cityKey, hasEmail, ...placing, account: accountNumber });
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

/** The 16 bytes of a UUID. */
export function bytesOf(id: string): Buffer {
  return Buffer.from(id.replaceAll("-", ""), "hex");
}
