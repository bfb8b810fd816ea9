/**
 * The blocks that keep erased persons out of their account: HMAC-SHA-256 of their identifiers, under a random key of this
 * instance. Nobody can read from the file who they were; whoever has the file can test guesses.
 */
import { createHmac } from "node:crypto";
import { and, asc, count, eq, gt, inArray, isNull, or, type SQL, sql } from "drizzle-orm";
import type { PersonIdentifier } from "../contract/person.ts";
import { insertAct } from "../db/audit.ts";
import type { Connection, LeadDatabase } from "../db/connection.ts";
import { type accounts, audit, instances, suppressedDigests, suppressions } from "../db/schema.ts";
import { digestsOf, identifiersIn, type PersonReference, spellingsOf } from "./identifiers.ts";

/** An account as its blocks and receipts know it. */
export type SuppressedAccount = Pick<typeof accounts.$inferSelect, "number" | "id">;

export type Instance = typeof instances.$inferSelect;

/** Lists the key of this file first, then those that a restore brought over. */
export function listInstances(database: Connection): Instance[] {
  return database.select().from(instances).orderBy(asc(instances.number)).all();
}

/** Returns the hash of an identifier. The account is part of it: two accounts have different hashes of the same person. */
export function hashOf(instance: Instance, account: string, { kind, value }: PersonIdentifier): Buffer {
  return createHmac("sha256", instance.secret).update(`${account}\0${kind}\0${value}`).digest();
}

/** Returns the hashes of an identifier in all its spellings. */
export function hashesOf(instance: Instance, account: string, identifier: PersonIdentifier): Buffer[] {
  return spellingsOf(identifier).map((value) => hashOf(instance, account, { kind: identifier.kind, value }));
}

/**
 * Returns the statements that block hashes and digests, which are in hexadecimal digits. A block that was lifted later stays
 * lifted, unless this decision is the newest one, whatever the clock says.
 */
export function blockStatements(
  account: number,
  instance: Instance,
  { hashes, digests }: { readonly hashes: readonly string[]; readonly digests: readonly string[] },
  erasedAtMs: number,
  isNewest: boolean,
): SQL[] {
  const lifted = isNewest ? sql`, ifnull(lifted_at + 1, 0)` : sql``;
  const update = sql`WHERE TRUE ON CONFLICT DO UPDATE SET erased_at = max(erased_at, excluded.erased_at${lifted})`;
  const block = sql`INSERT INTO suppressions (account, instance, hash, erased_at)
    SELECT ${account}, ${instance.number}, unhex(value), ${erasedAtMs} FROM json_each(${JSON.stringify(hashes)}) ${update}`;
  const blockDigests = sql`INSERT INTO suppressed_digests (account, digest, erased_at)
    SELECT ${account}, unhex(value), ${erasedAtMs} FROM json_each(${JSON.stringify(digests)}) ${update}`;
  return digests.length === 0 ? [block] : [block, blockDigests];
}

/** Returns the condition that a block was not lifted since. */
function isInForce({ liftedAt, erasedAt }: typeof suppressions | typeof suppressedDigests): SQL {
  return or(isNull(liftedAt), gt(erasedAt, liftedAt)) ?? sql`TRUE`;
}

/** Returns the condition that the account of a row of `accounts` has a block. */
export function hasBlocks(): SQL {
  // As text: if a query reads one table alone, Drizzle leaves its name out.
  const isIn = (table: string) =>
    `EXISTS (SELECT 1 FROM ${table} WHERE ${table}.account = accounts.number
      AND (${table}.lifted_at IS NULL OR ${table}.erased_at > ${table}.lifted_at))`;
  return sql.raw(`(${isIn("suppressions")} OR ${isIn("suppressed_digests")})`);
}

/** Prepares the question whether one of some identifiers is blocked. */
export function openSuppressions(
  database: Connection,
  account: SuppressedAccount,
): (identifiers: readonly PersonIdentifier[]) => boolean {
  const known = listInstances(database);
  const ofAccount = and(eq(suppressions.account, account.number), isInForce(suppressions));
  const byHash = database
    .select({ at: suppressions.erasedAt })
    .from(suppressions)
    .where(
      and(
        ofAccount,
        eq(suppressions.instance, sql.placeholder("instance")),
        eq(suppressions.hash, sql.placeholder("hash")),
      ),
    )
    .prepare();
  const digestsOfAccount = and(eq(suppressedDigests.account, account.number), isInForce(suppressedDigests));
  const digests = (where?: SQL) =>
    database.select({ at: suppressedDigests.erasedAt }).from(suppressedDigests).where(where);
  const anyDigest = digests(digestsOfAccount).limit(1).prepare();
  const byDigest = digests(and(digestsOfAccount, eq(suppressedDigests.digest, sql.placeholder("digest")))).prepare();
  return (identifiers) => {
    const isBlocked = known.some((instance) =>
      identifiers.some((identifier) =>
        hashesOf(instance, account.id, identifier).some(
          (hash) => byHash.values({ instance: instance.number, hash }).length > 0,
        ),
      ),
    );
    // Hashing costs a good part of a row, and most accounts have no blocked digest.
    if (isBlocked || anyDigest.values().length === 0) return isBlocked;
    const all = identifiers.flatMap(digestsOf);
    return all.some((digest) => byDigest.values({ digest: Buffer.from(digest, "hex") }).length > 0);
  };
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
  const identifiers = identifiersIn(reference);
  const hashes = listInstances(read).flatMap((instance) =>
    identifiers.flatMap((identifier) => hashesOf(instance, account.id, identifier)),
  );
  const digests = identifiers.flatMap(digestsOf).map((digest) => Buffer.from(digest, "hex"));
  const blocks = [
    { table: suppressions, named: inArray(suppressions.hash, hashes) },
    { table: suppressedDigests, named: inArray(suppressedDigests.digest, digests) },
  ].map(({ table, named }) => ({ table, where: and(eq(table.account, account.number), named, isInForce(table)) }));
  const counts = blocks.map(({ table, where }) => read.select({ of: count() }).from(table).where(where).get()?.of ?? 0);
  const lifted = counts.reduce((sum, one) => sum + one, 0);
  const unblocked = reference.kind === "id" ? Math.min(lifted, 1) : lifted;
  const detail = { by: reference.kind, unblocked };
  const act = insertAct(read, { atMs: nowMs, act: "lead.unblock", account: account.id, detail });
  const lift = blocks.map(({ table, where }) =>
    // A clock may have been set back since the erasure.
    read
      .update(table)
      .set({ liftedAt: sql`max(${nowMs}, ${table.erasedAt})` })
      .where(where),
  );
  await database.write([...lift, act], "everywhere");
  return unblocked;
}

/** Returns how often blocks were lifted, by the audit. The number only grows. */
export function countUnblockings(database: Connection): number {
  return database.select({ count: count() }).from(audit).where(eq(audit.act, "lead.unblock")).get()?.count ?? 0;
}
