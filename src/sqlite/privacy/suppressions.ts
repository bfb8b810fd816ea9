/**
 * Persons who were erased and stay out of their account. What they are known by is kept as HMAC-SHA-256 under a random
 * key of this instance: nobody reads from the file who they were, and whoever holds it can at most test guesses.
 */
import { createHmac, randomBytes } from "node:crypto";
import { and, asc, eq, sql } from "drizzle-orm";
import { randomText } from "../../contract/key.ts";
import { emailKey, type Lead, phoneKey } from "../../contract/lead.ts";
import type { PersonTrait } from "../../store/privacy.ts";
import type { Connection } from "../connection.ts";
import { instances, suppressions } from "../schema.ts";

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

/** What a lead tells of its person. */
export function traitsOf(lead: Pick<Lead, "id" | "email" | "verified_email" | "phone">): PersonTrait[] {
  const emails = new Set(
    [lead.email, lead.verified_email].flatMap((email) => (email === null ? [] : [emailKey(email)])),
  );
  return [
    { kind: "id", value: lead.id },
    ...[...emails].map((value): PersonTrait => ({ kind: "email", value })),
    ...(lead.phone === null ? [] : [{ kind: "phone", value: phoneKey(lead.phone) } as const]),
  ];
}

/** The account goes into the hash, so that nobody sees from two hashes that two accounts knew the same person. */
export function hashOf(instance: Instance, account: string, { kind, value }: PersonTrait): Buffer {
  return createHmac("sha256", instance.secret).update(`${account}\0${kind}\0${value}`).digest();
}

/** Blocks hashes; those that are there already stay as they are. */
export function addSuppressions(
  database: Pick<Connection, "insert">,
  account: SuppressedAccount,
  instance: Instance,
  hashes: readonly Buffer[],
  nowMs: number,
): void {
  for (const hash of hashes) {
    const row = { account: account.number, instance: instance.number, hash, erasedAt: nowMs };
    database.insert(suppressions).values(row).onConflictDoNothing().run();
  }
}

/** Tells whether a person with some of these traits was erased, as the transaction that asks sees it. */
export function openSuppressions(
  database: Connection,
  account: SuppressedAccount,
): (traits: readonly PersonTrait[]) => boolean {
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
  const isBlocked = (instance: Instance, trait: PersonTrait) =>
    one.values({ instance: instance.number, hash: hashOf(instance, account.id, trait) }).length > 0;
  return (traits) => known.some((instance) => traits.some((trait) => isBlocked(instance, trait)));
}
