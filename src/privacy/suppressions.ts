/**
 * The blocks that keep erased persons out of their account: HMAC-SHA-256 of their identifiers, under a random key of this
 * instance. Nobody can read from the file who they were; whoever has the file can test guesses.
 */
import { createHmac } from "node:crypto";
import { and, asc, count, eq, gt, isNull, or, type SQL, sql } from "drizzle-orm";
import type { PersonIdentifier } from "../contract/person.ts";
import { insertAct } from "../db/audit.ts";
import type { Connection, LeadDatabase, Statement } from "../db/connection.ts";
import { type accounts, audit, instances, suppressedDigests, suppressions } from "../db/schema.ts";
import { digestsOf, identifiersIn, type PersonReference, spellingsOf } from "./identifiers.ts";

/** An account as its blocks and receipts know it. */
export type SuppressedAccount = Pick<typeof accounts.$inferSelect, "number" | "id">;

export type Instance = typeof instances.$inferSelect;

/** The key of this file first, then those that a restore brought over. */
export function listInstances(database: Connection): Instance[] {
  return database.select().from(instances).orderBy(asc(instances.number)).all();
}

/** The account is part of the hash: two accounts that knew the same person have different hashes. */
export function hashOf(instance: Instance, account: string, { kind, value }: PersonIdentifier): Buffer {
  return createHmac("sha256", instance.secret).update(`${account}\0${kind}\0${value}`).digest();
}

/** The statement that blocks a hash in an account. It is the newest decision, also over a block that was lifted. */
export function blockHash(
  database: Pick<Connection, "insert">,
  { number: account }: SuppressedAccount,
  { number: instance }: Instance,
  hash: Buffer,
  nowMs: number,
) {
  const { erasedAt, liftedAt } = suppressions;
  return database
    .insert(suppressions)
    .values({ account, instance, hash, erasedAt: nowMs })
    .onConflictDoUpdate({
      target: [suppressions.account, suppressions.instance, suppressions.hash],
      set: { erasedAt: sql`max(${erasedAt}, excluded.erased_at, ifnull(${liftedAt} + 1, 0))` },
    });
}

/** The statement that blocks a digest, likewise. */
export function blockDigest(
  database: Pick<Connection, "insert">,
  { number: account }: SuppressedAccount,
  digest: Buffer,
  nowMs: number,
) {
  const { erasedAt, liftedAt } = suppressedDigests;
  return database
    .insert(suppressedDigests)
    .values({ account, digest, erasedAt: nowMs })
    .onConflictDoUpdate({
      target: [suppressedDigests.account, suppressedDigests.digest],
      set: { erasedAt: sql`max(${erasedAt}, excluded.erased_at, ifnull(${liftedAt} + 1, 0))` },
    });
}

type BlockTable = typeof suppressions | typeof suppressedDigests;

/** Whether a block holds: it was not lifted since. */
function holds({ liftedAt, erasedAt }: Pick<BlockTable, "liftedAt" | "erasedAt">): SQL {
  return or(isNull(liftedAt), gt(erasedAt, liftedAt)) ?? sql`TRUE`;
}

/** SQL: whether the account of a row of `accounts` has a block. */
export function hasBlocks(): SQL {
  // As text: where a query reads one table alone, Drizzle leaves its name out.
  const holdsIn = (table: string) =>
    `EXISTS (SELECT 1 FROM ${table} WHERE ${table}.account = accounts.number
      AND (${table}.lifted_at IS NULL OR ${table}.erased_at > ${table}.lifted_at))`;
  return sql.raw(`(${holdsIn("suppressions")} OR ${holdsIn("suppressed_digests")})`);
}

/** Prepares the question whether one of some identifiers is blocked. */
export function openSuppressions(
  database: Connection,
  account: SuppressedAccount,
): (identifiers: readonly PersonIdentifier[]) => boolean {
  const known = listInstances(database);
  const one = database
    .select({ erasedAt: suppressions.erasedAt })
    .from(suppressions)
    .where(
      and(
        eq(suppressions.account, account.number),
        eq(suppressions.instance, sql.placeholder("instance")),
        eq(suppressions.hash, sql.placeholder("hash")),
        holds(suppressions),
      ),
    )
    .prepare();
  const isDigestBlocked = openDigests(database, account.number);
  const isBlocked = (instance: Instance, identifier: PersonIdentifier) =>
    spellingsOf(identifier).some((value) => {
      const hash = hashOf(instance, account.id, { kind: identifier.kind, value });
      return one.values({ instance: instance.number, hash }).length > 0;
    });
  return (identifiers) =>
    known.some((instance) => identifiers.some((identifier) => isBlocked(instance, identifier))) ||
    identifiers.some(isDigestBlocked);
}

/** Looks for a digest first: hashing costs a good part of a row, and most accounts have no blocked digest. */
function openDigests(database: Connection, account: number): (identifier: PersonIdentifier) => boolean {
  const blocked = and(eq(suppressedDigests.account, account), holds(suppressedDigests));
  const one = (where?: SQL) =>
    database
      .select({ erasedAt: suppressedDigests.erasedAt })
      .from(suppressedDigests)
      .where(and(blocked, where))
      .limit(1);
  const any = one().prepare();
  const known = one(eq(suppressedDigests.digest, sql.placeholder("digest"))).prepare();
  return (identifier) =>
    any.values().length > 0 &&
    digestsOf(identifier).some((digest) => known.values({ digest: Buffer.from(digest, "hex") }).length > 0);
}

/**
 * Lifts every block that an import would meet by an identifier, and no other one. Returns how many there were; the IDs that
 * one ID of a vendor may have become count as one.
 */
export async function liftBlocks(
  database: LeadDatabase,
  account: SuppressedAccount,
  reference: PersonReference,
  nowMs: number,
): Promise<number> {
  await database.catchUp();
  const { read } = database;
  const lift = (table: BlockTable, one: SQL | undefined) => {
    const where = and(eq(table.account, account.number), one, holds(table));
    const isThere = read.select({ account: table.account }).from(table).where(where).values().length > 0;
    return isThere ? [liftStatement(read, table, where, nowMs)] : [];
  };
  const known = listInstances(read);
  const lifted = identifiersIn(reference).flatMap((identifier) => [
    ...known.flatMap((instance) =>
      spellingsOf(identifier).flatMap((value) => {
        const hash = hashOf(instance, account.id, { kind: identifier.kind, value });
        return lift(suppressions, and(eq(suppressions.instance, instance.number), eq(suppressions.hash, hash)));
      }),
    ),
    ...digestsOf(identifier).flatMap((digest) =>
      lift(suppressedDigests, eq(suppressedDigests.digest, Buffer.from(digest, "hex"))),
    ),
  ]);
  const unblocked = reference.kind === "id" ? Math.min(lifted.length, 1) : lifted.length;
  const detail = { by: reference.kind, unblocked };
  const act = insertAct(read, { atMs: nowMs, act: "lead.unblock", account: account.id, detail });
  await database.write([...lifted, act], "everywhere");
  return unblocked;
}

function liftStatement(database: Connection, table: BlockTable, where: SQL | undefined, nowMs: number): Statement {
  // A clock may have been set back since the erasure.
  const liftedAt = sql`max(${nowMs}, ${table.erasedAt})`;
  return database.update(table).set({ liftedAt }).where(where);
}

/** How often blocks were lifted, by the audit. It only grows. */
export function countUnblockings(database: Connection): number {
  return database.select({ count: count() }).from(audit).where(eq(audit.act, "lead.unblock")).get()?.count ?? 0;
}
