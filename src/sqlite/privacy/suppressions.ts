/**
 * Persons who were erased and stay out of their account. What they are known by is kept as HMAC-SHA-256 under a random
 * key of this instance: nobody reads from the file who they were, and whoever holds it can at most test guesses.
 */
import { createHmac, randomBytes } from "node:crypto";
import { and, asc, eq, type SQL, sql } from "drizzle-orm";
import { randomText } from "../../contract/key.ts";
import type { PersonIdentifier } from "../../store/privacy.ts";
import type { Connection } from "../connection.ts";
import { accounts, instances, suppressedDigests, suppressions } from "../schema.ts";
import { digestsOf } from "./identifiers.ts";

/** An account, as its blocks and receipts know it. */
export interface SuppressedAccount {
  readonly number: number;
  readonly id: string;
}

export interface Instance {
  readonly number: number;
  readonly id: string;
  readonly secret: Buffer;
}

/** Makes the random key with the file itself, so that receipts of later erasures fit every backup of it. */
export function ensureInstance(database: Connection): void {
  if (listInstances(database).length > 0) return;
  const made = { number: 1, id: `ins_${randomText(12)}`, secret: randomBytes(32) };
  database.insert(instances).values(made).onConflictDoNothing().run();
}

/** The own one first. */
export function listInstances(database: Connection): Instance[] {
  return database.select().from(instances).orderBy(asc(instances.number)).all();
}

/** The account goes into the hash, so that nobody sees from two hashes that two accounts knew the same person. */
export function hashOf(instance: Instance, account: string, { kind, value }: PersonIdentifier): Buffer {
  return createHmac("sha256", instance.secret).update(`${account}\0${kind}\0${value}`).digest();
}

/** Blocks hashes and digests in an account; those that are there already stay as they are. */
export function openBlocking(database: Connection, account: SuppressedAccount) {
  const hashes = database
    .insert(suppressions)
    .values({
      account: account.number,
      instance: sql.placeholder("instance"),
      hash: sql.placeholder("hash"),
      erasedAt: sql.placeholder("nowMs"),
    })
    .onConflictDoNothing()
    .prepare();
  const digests = database
    .insert(suppressedDigests)
    .values({ account: account.number, digest: sql.placeholder("digest"), erasedAt: sql.placeholder("nowMs") })
    .onConflictDoNothing()
    .prepare();
  return {
    hash(instance: Instance, hash: Buffer, nowMs: number): void {
      hashes.run({ instance: instance.number, hash, nowMs });
    },
    digest(digest: Buffer, nowMs: number): void {
      digests.run({ digest, nowMs });
    },
  };
}

/** The accounts that keep anybody out. */
export function accountsWithBlocks(database: Connection): SuppressedAccount[] {
  return database.select({ number: accounts.number, id: accounts.id }).from(accounts).where(hasBlocks()).all();
}

/** Whether the account of a row of `accounts` keeps anybody out. */
export function hasBlocks(): SQL {
  // In words: where one table is read alone, Drizzle names columns without it.
  return sql`(
    EXISTS (SELECT 1 FROM suppressions WHERE suppressions.account = accounts.number)
    OR EXISTS (SELECT 1 FROM suppressed_digests WHERE suppressed_digests.account = accounts.number))`;
}

/** Tells whether a person with some of these identifiers was erased, as the transaction that asks sees it. */
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
      ),
    )
    .prepare();
  const isDigestBlocked = openDigests(database, account.number);
  const isBlocked = (instance: Instance, identifier: PersonIdentifier) =>
    one.values({ instance: instance.number, hash: hashOf(instance, account.id, identifier) }).length > 0;
  return (identifiers) =>
    known.some((instance) => identifiers.some((identifier) => isBlocked(instance, identifier))) ||
    identifiers.some(isDigestBlocked);
}

/** Hashing costs a good part of a row, and most accounts were never given a digest. */
function openDigests(database: Connection, account: number): (identifier: PersonIdentifier) => boolean {
  const ofAccount = eq(suppressedDigests.account, account);
  const one = (where?: SQL) =>
    database
      .select({ erasedAt: suppressedDigests.erasedAt })
      .from(suppressedDigests)
      .where(and(ofAccount, where))
      .limit(1);
  const any = one().prepare();
  const known = one(eq(suppressedDigests.digest, sql.placeholder("digest"))).prepare();
  return (identifier) =>
    any.values().length > 0 &&
    digestsOf(identifier).some((digest) => known.values({ digest: Buffer.from(digest, "hex") }).length > 0);
}
