/**
 * The blocks that keep erased persons out of their account: HMAC-SHA-256 of their identifiers, under a random key of this
 * instance. Nobody can read from the file who they were; anyone who has the file can test guesses.
 */
import { createHmac } from "node:crypto";
import { and, asc, count, eq, gt, inArray, isNull, or, type SQL, sql } from "drizzle-orm";
import type { PersonIdentifier } from "../contract/person.ts";
import { insertAct } from "../db/audit.ts";
import type { Connection, LeadDatabase } from "../db/connection.ts";
import { type accounts, instances, suppressedDigests, suppressions } from "../db/schema.ts";
import { digestsOf, identifiersIn, type PersonReference, spellingsOf } from "./identifiers.ts";
import { listErasures } from "./receipts.ts";

/** An account as its blocks and receipts know it. */
export type SuppressedAccount = Pick<typeof accounts.$inferSelect, "number" | "id">;

type Instance = typeof instances.$inferSelect;

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

type BlockTable = typeof suppressions | typeof suppressedDigests;

/** Returns the condition on the blocks of an account that were not lifted since. */
function inForce({ account, liftedAt, erasedAt }: BlockTable, number: number, where?: SQL): SQL | undefined {
  return and(eq(account, number), or(isNull(liftedAt), gt(erasedAt, liftedAt)), where);
}

function selectBlocks(database: Connection, table: BlockTable, account: number, where?: SQL) {
  return database
    .select({ at: table.erasedAt })
    .from(table)
    .where(inForce(table, account, where))
    .limit(1);
}

/** Returns whether an account has a block. */
export function hasBlocks(database: Connection, account: number): boolean {
  return [suppressions, suppressedDigests].some((table) => selectBlocks(database, table, account).values().length > 0);
}

/** Prepares the question whether one of some identifiers is blocked. */
export function openSuppressions(
  database: Connection,
  { number, id }: SuppressedAccount,
): (identifiers: readonly PersonIdentifier[]) => boolean {
  const known = listInstances(database);
  const hash = and(
    eq(suppressions.instance, sql.placeholder("instance")),
    eq(suppressions.hash, sql.placeholder("hash")),
  );
  const byHash = selectBlocks(database, suppressions, number, hash).prepare();
  const anyDigest = selectBlocks(database, suppressedDigests, number).prepare();
  const digest = eq(suppressedDigests.digest, sql.placeholder("digest"));
  const byDigest = selectBlocks(database, suppressedDigests, number, digest).prepare();
  const isHashBlocked = (identifier: PersonIdentifier) =>
    known.some((instance) =>
      hashesOf(instance, id, identifier).some((hash) => byHash.values({ instance: instance.number, hash }).length > 0),
    );
  const isDigestBlocked = (identifier: PersonIdentifier) =>
    digestsOf(identifier).some((digest) => byDigest.values({ digest: Buffer.from(digest, "hex") }).length > 0);
  return (identifiers) =>
    identifiers.some(isHashBlocked) ||
    // Hashing costs a good part of a row, and most accounts have no blocked digest.
    (anyDigest.values().length > 0 && identifiers.some(isDigestBlocked));
}

/**
 * Lifts every block that an import would meet by an identifier, and those of the IDs that an erasure by it removed. Returns how
 * many the identifier had; the IDs that one ID of a vendor may have become count as one.
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
  const digests = identifiers.flatMap(digestsOf);
  const lists = [
    { table: suppressions, named: inArray(suppressions.hash, hashes) },
    { table: suppressedDigests, named: inArray(suppressedDigests.digest, digests.map(fromHex)) },
  ];
  const blocks = lists.map(({ table, named }) => ({ table, where: inForce(table, account.number, named) }));
  const lifted = blocks.reduce(
    (sum, { table, where }) => sum + (read.select({ of: count() }).from(table).where(where).get()?.of ?? 0),
    0,
  );
  const ids = removedOnlyBy(read, account.number, hashes, digests);
  const ofIds = { table: suppressions, where: inForce(suppressions, account.number, inArray(suppressions.hash, ids)) };
  const unblocked = reference.kind === "id" ? Math.min(lifted, 1) : lifted;
  const detail = { by: reference.kind, unblocked };
  const act = insertAct(read, { atMs: nowMs, act: "lead.unblock", account: account.id, detail });
  const statements = [...blocks, ofIds].map(({ table, where }) => {
    // A clock may have been set back since the erasure.
    const liftedAt = sql`max(${nowMs}, ${table.erasedAt})`;
    return read.update(table).set({ liftedAt }).where(where);
  });
  await database.write([...statements, act], "everywhere");
  return unblocked;
}

const fromHex = (hash: string) => Buffer.from(hash, "hex");

/**
 * Returns the hashes of the IDs that the erasures of a person removed. An ID stays blocked that another erasure removed as well,
 * as long as what was given to that one is blocked.
 */
function removedOnlyBy(
  database: Connection,
  account: number,
  hashes: readonly Buffer[],
  digests: readonly string[],
): Buffer[] {
  const given = hashes.map((hash) => hash.toString("hex"));
  const theirs = [
    ...listErasures(database, account, "given", given),
    ...listErasures(database, account, "digests", digests),
  ];
  const removed = new Set(theirs.flatMap((erasure) => erasure.removed));
  const isTheirs = new Set([...given, ...digests]);
  const isBlocked = (table: BlockTable, where: SQL) =>
    selectBlocks(database, table, account, where).values().length > 0;
  const others = listErasures(database, account, "removed", [...removed]).filter(
    (other) =>
      other.given.some((one) => !isTheirs.has(one) && isBlocked(suppressions, eq(suppressions.hash, fromHex(one)))) ||
      other.digests.some(
        (one) => !isTheirs.has(one) && isBlocked(suppressedDigests, eq(suppressedDigests.digest, fromHex(one))),
      ),
  );
  return [...removed.difference(new Set(others.flatMap((other) => other.removed)))].map(fromHex);
}
