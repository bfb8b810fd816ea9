/** The statements of an import, prepared once and bound to one account. */
import { and, eq, gte, max, notExists, sql } from "drizzle-orm";
import { alias } from "drizzle-orm/sqlite-core";
import type { NewLead } from "../../store/imports.ts";
import type { AccountNumber } from "../../store/reading.ts";
import type { Connection } from "../connection.ts";
import { pixelOfAccount } from "../pixels.ts";
import { placeholder } from "../placeholder.ts";
import { leads, pixels, positionOf } from "../schema.ts";

type Stored = Pick<NewLead, "state" | "cityKey" | "hasEmail"> & {
  readonly pixel: number;
  readonly at: number;
  readonly doc: string;
};

const account = placeholder.integer("account");
const at = placeholder.integer("at");
const content = {
  pixel: sql.placeholder("pixel"),
  state: sql.placeholder("state"),
  cityKey: sql.placeholder("cityKey"),
  hasEmail: sql.placeholder("hasEmail"),
  doc: sql.placeholder("doc"),
};

export function prepareImport(database: Connection, accountNumber: AccountNumber) {
  const ofAccount = eq(leads.account, account);
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
  const insert = database
    .insert(leads)
    .values({ position: positionOf(account, at), uuid: sql.placeholder("uuid"), import: 0, ...content })
    .onConflictDoNothing()
    .prepare();
  const replace = database
    .update(leads)
    // Drizzle types placeholders for inserts alone, though it binds them here as well.
    .set(content as unknown as Partial<typeof leads.$inferInsert>)
    .where(and(ofAccount, eq(leads.identifiedAt, at)))
    .prepare();
  const firstFree = prepareFirstFree(database);
  const pixel = database.select({ number: pixels.number }).from(pixels).where(pixelOfAccount).prepare();

  return {
    newest: () => newest.get({ account: accountNumber })?.ms ?? null,
    /** When the lead with this id was identified; null when there is none. */
    momentOf: (uuid: Buffer) => momentOf.values({ account: accountNumber, uuid })[0]?.[0] ?? null,
    /** False when the moment or the id is taken. */
    insert(lead: Stored & { uuid: Buffer }): boolean {
      // Drizzle types it as nothing, but hands on the count of Bun, which costs less than RETURNING.
      const result = insert.run({ ...lead, account: accountNumber }) as unknown as { readonly changes: number };
      return result.changes > 0;
    },
    replace: (lead: Stored) => replace.run({ ...lead, account: accountNumber }),
    /** The first free millisecond after one that is taken. */
    firstFree: (ms: number) => firstFree.values({ account: accountNumber, at: ms })[0]?.[0] ?? ms + 1,
    pixel: (pixelId: string) => pixel.values({ account: accountNumber, pixelId })[0]?.[0] ?? null,
  };
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
    .where(and(eq(leads.account, account), gte(leads.identifiedAt, at), notExists(follower)))
    .orderBy(leads.identifiedAt)
    .limit(1)
    .prepare();
}
