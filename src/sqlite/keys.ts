/** Keys (§3, §5): only the digest is kept, and a revocation is final. */
import { and, asc, between, eq, isNull, type SQL, sql, sum } from "drizzle-orm";
import { randomText } from "../contract/random-text.ts";
import { dayOf, monthOf } from "../contract/time.ts";
import type { AccountNumber } from "../store/reading.ts";
import type { KeyRecord, KeyRepository, NewKey } from "../store/repositories.ts";
import { recordAct } from "./audit.ts";
import type { Connection } from "./connection.ts";
import { accounts, keys, usage } from "./schema.ts";

export function openKeys(database: Connection): KeyRepository {
  const one = (where: SQL) => records(database, where)[0] ?? null;
  return {
    create(account, key, nowMs) {
      const record = onRecord(database, "key.create", nowMs, () => insert(database, account, key, nowMs));
      if (record === null) throw new Error("a key that was just made is not there");
      return record;
    },
    list: (account) => records(database, eq(keys.account, account)),
    find: (id) => one(eq(keys.id, id)),
    requestsOfMonth: (id, nowMs) => requestsOfMonth(database, id, nowMs),
    revoke: (id, nowMs) =>
      onRecord(database, "key.revoke", nowMs, () => updateLive(database, id, { revokedAt: nowMs })),
    expire: (id, expiresMs, nowMs) =>
      onRecord(database, "key.expire", nowMs, () => updateLive(database, id, { expiresAt: expiresMs })),
    findByDigest: (digest) => one(eq(keys.digest, digest)),
  };
}

function records(database: Connection, where: SQL): KeyRecord[] {
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

/** Changes the key whose id the work returns, and records the command, both or none. Gives the key as it is then. */
function onRecord(database: Connection, act: string, nowMs: number, work: () => string): KeyRecord | null {
  return database.transaction(
    () => {
      const record = records(database, eq(keys.id, work()))[0] ?? null;
      if (record !== null) {
        recordAct(database, { atMs: nowMs, act, account: record.account, detail: { key: record.id } });
      }
      return record;
    },
    { behavior: "immediate" },
  );
}

function insert(database: Connection, account: AccountNumber, { expiresMs, ...key }: NewKey, nowMs: number): string {
  const id = `key_${randomText(12)}`;
  database
    .insert(keys)
    .values({ account, id, ...key, createdAt: nowMs, expiresAt: expiresMs ?? null })
    .run();
  return id;
}

/** A revocation is final: a revoked key stays as it is. */
function updateLive(database: Connection, id: string, set: { revokedAt: number } | { expiresAt: number }): string {
  database
    .update(keys)
    .set(set)
    .where(and(eq(keys.id, id), isNull(keys.revokedAt)))
    .run();
  return id;
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
