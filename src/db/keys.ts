/** Keys (§3, §5): only the digest is kept, and a revocation is final. */
import { and, asc, between, eq, isNull, type SQL, sql, sum } from "drizzle-orm";
import { dayOf, monthOf } from "../contract/calendar.ts";
import { randomText } from "../contract/random-text.ts";
import type { KeyFinder } from "../store/reading.ts";
import type { KeyRecord, KeyRepository } from "../store/repositories.ts";
import { openRecorded } from "./audit.ts";
import type { Connection } from "./connection.ts";
import { placeholder } from "./placeholder.ts";
import { accounts, keys, usage } from "./schema.ts";

/** Finds a key by its digest; it writes nothing. */
export function openKeyFinder(database: Connection): KeyFinder["find"] {
  const statement = database
    .select({
      number: keys.number,
      account: keys.account,
      prefix: keys.prefix,
      revokedMs: keys.revokedAt,
      expiresMs: keys.expiresAt,
      subscribed: accounts.active,
    })
    .from(keys)
    .innerJoin(accounts, eq(accounts.number, keys.account))
    .where(eq(keys.digest, placeholder.blob("digest")))
    .prepare();
  return (digest) => statement.get({ digest }) ?? null;
}

export function openKeys(database: Connection): KeyRepository {
  const find = (where: SQL) => listKeys(database, where)[0] ?? null;
  const recorded = openRecorded(database, "key", (id) => find(eq(keys.id, id)));

  return {
    create(account, { expiresMs = null, ...key }, nowMs) {
      const id = `key_${randomText(12)}`;
      const row = { account, id, ...key, createdAt: nowMs, expiresAt: expiresMs };
      return recorded.create(id, account, nowMs, () => database.insert(keys).values(row).run());
    },
    list: (account) => listKeys(database, eq(keys.account, account)),
    find: (id) => find(eq(keys.id, id)),
    requestsOfMonth: (id, nowMs) => requestsOfMonth(database, id, nowMs),
    revoke: (id, nowMs) =>
      recorded.change("key.revoke", id, nowMs, () => updateLive(database, id, { revokedAt: nowMs })),
    expire: (id, expiresMs, nowMs) =>
      recorded.change("key.expire", id, nowMs, () => updateLive(database, id, { expiresAt: expiresMs })),
    findByDigest: (digest) => find(eq(keys.digest, digest)),
  };
}

/** The keys that a condition names, or all, in the order in which they were made. */
export function listKeys(database: Connection, where?: SQL): KeyRecord[] {
  return database
    .select({
      id: keys.id,
      prefix: keys.prefix,
      label: keys.label,
      account: accounts.id,
      createdMs: keys.createdAt,
      revokedMs: keys.revokedAt,
      expiresMs: keys.expiresAt,
      lastUsed: sql<string | null>`(SELECT max(${usage.day}) FROM ${usage} WHERE ${usage.key} = ${keys.number})`,
      readUpToMs: sql<number | null>`(SELECT max(newest) FROM disclosures WHERE disclosures.key = ${keys.number})`,
    })
    .from(keys)
    .innerJoin(accounts, eq(accounts.number, keys.account))
    .where(where)
    .orderBy(asc(keys.number))
    .all();
}

/** A revocation is final: a revoked key stays as it is. */
function updateLive(database: Connection, id: string, set: { revokedAt: number } | { expiresAt: number }): void {
  database
    .update(keys)
    .set(set)
    .where(and(eq(keys.id, id), isNull(keys.revokedAt)))
    .run();
}

function requestsOfMonth(database: Connection, id: string, nowMs: number): number {
  const inMonth = between(usage.day, ...monthOf(dayOf(nowMs)));
  const counted = database
    .select({ requests: sum(usage.requests).mapWith(Number) })
    .from(usage)
    .innerJoin(keys, eq(keys.number, usage.key))
    .where(and(eq(keys.id, id), inMonth))
    .get();
  return counted?.requests ?? 0;
}
