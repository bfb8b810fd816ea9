/**
 * Persons who were erased, and stay out of their account. Their identifiers are kept as HMAC-SHA-256 under a random key
 * of this instance. So nobody can read from the file who they were. Whoever holds it can test guesses.
 */
import { createHmac, randomBytes } from "node:crypto";
import { and, asc, eq, type SQL, sql } from "drizzle-orm";
import type { PersonIdentifier } from "../contract/person.ts";
import { randomText } from "../contract/random-text.ts";
import type { Connection } from "../db/connection.ts";
import { accounts, instances, suppressedDigests, suppressions } from "../db/schema.ts";
import type { Account } from "../store/repositories.ts";
import { digestsOf, spellingsOf } from "./identifiers.ts";

/** An account, as its blocks and receipts know it. */
type SuppressedAccount = Pick<Account, "number" | "id">;

type Instance = typeof instances.$inferSelect;

/** Makes the random key when the file is made. So the receipts of all erasures fit every backup. */
export function ensureInstance(database: Connection): void {
  if (listInstances(database).length > 0) return;
  const made = { number: 1, id: `ins_${randomText(12)}`, secret: randomBytes(32) };
  database.insert(instances).values(made).onConflictDoNothing().run();
}

/** The key of this file first, then those that a restore brought over. */
export function listInstances(database: Connection): Instance[] {
  return database.select().from(instances).orderBy(asc(instances.number)).all();
}

/** The account is part of the hash: two accounts that knew the same person have different hashes. */
export function hashOf(instance: Instance, account: string, { kind, value }: PersonIdentifier): Buffer {
  return createHmac("sha256", instance.secret).update(`${account}\0${kind}\0${value}`).digest();
}

/** Blocks hashes and digests in an account. A block that is there already stays as it is. */
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

/** The accounts with at least one block. */
export function accountsWithBlocks(database: Connection): SuppressedAccount[] {
  return database.select({ number: accounts.number, id: accounts.id }).from(accounts).where(hasBlocks()).all();
}

/** SQL: whether the account of a row of `accounts` has a block. */
export function hasBlocks(): SQL {
  // As text: where a query reads one table alone, Drizzle leaves its name out.
  return sql`(
    EXISTS (SELECT 1 FROM suppressions WHERE suppressions.account = accounts.number)
    OR EXISTS (SELECT 1 FROM suppressed_digests WHERE suppressed_digests.account = accounts.number))`;
}

/** Says whether one of these identifiers is blocked. */
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
    // Earlier versions blocked an address as it was written.
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
