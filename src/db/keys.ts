/** Keys (§3, §5): only the digest is kept, and a revocation is final. */
import { and, asc, eq, isNull, type SQL, sql } from "drizzle-orm";
import { randomText } from "../contract/key.ts";
import type { Account, AccountNumber } from "./accounts.ts";
import { insertAct } from "./audit.ts";
import type { Connection, LeadDatabase } from "./connection.ts";
import { accounts, deletedKeys, keys, unusedNumber, usage } from "./schema.ts";

/** The number by which the database refers to a key; people see its ID. */
export type KeyNumber = number;

/** A key as commands show it, without its digest. */
export type KeyRecord = ReturnType<typeof listKeys>[number];

interface NewKey {
  readonly digest: Buffer;
  readonly prefix: string;
  readonly label: string | null;
  /** Without it, the key never expires. */
  readonly expiresMs?: number | null;
}

/** Stores a key of an account, and returns its record. */
export async function createKey(
  database: LeadDatabase,
  account: Pick<Account, "number" | "id">,
  { expiresMs = null, ...key }: NewKey,
  nowMs: number,
): Promise<KeyRecord> {
  const { read } = database;
  const id = `key_${randomText(12)}`;
  const number = unusedNumber(keys, deletedKeys);
  const row = { number, account: account.number, id, ...key, createdAt: nowMs, expiresAt: expiresMs };
  await database.write([
    read.insert(keys).values(row),
    insertAct(read, { atMs: nowMs, act: "key.create", account: account.id, detail: { key: id } }),
  ]);
  const made = findKey(read, id);
  if (made === null) throw new Error("a key that was just created is not found");
  return made;
}

/** Revokes a key, at once and for good: no server accepts it once this resolves. Null if there is no such key. */
export function revokeKey(database: LeadDatabase, id: string, nowMs: number): Promise<KeyRecord | null> {
  return endKey(database, id, "key.revoke", { revokedAt: nowMs }, nowMs);
}

/** Sets when a key expires. Null if there is no such key. */
export function expireKey(
  database: LeadDatabase,
  id: string,
  expiresMs: number,
  nowMs: number,
): Promise<KeyRecord | null> {
  return endKey(database, id, "key.expire", { expiresAt: expiresMs }, nowMs);
}

/** A revocation is final: a revoked key stays as it is. */
async function endKey(
  database: LeadDatabase,
  id: string,
  act: "key.expire" | "key.revoke",
  change: { revokedAt: number } | { expiresAt: number },
  nowMs: number,
): Promise<KeyRecord | null> {
  const { read } = database;
  const key = findKey(read, id);
  if (key === null) return null;
  const isLive = and(eq(keys.id, id), isNull(keys.revokedAt));
  await database.write(
    [
      read.update(keys).set(change).where(isLive),
      insertAct(read, { atMs: nowMs, act, account: key.account, detail: { key: id } }),
    ],
    "everywhere",
  );
  return findKey(database.read, id);
}

/** Finds a key by its ID; null if there is none. */
export function findKey(read: Connection, id: string): KeyRecord | null {
  return listKeys(read, eq(keys.id, id))[0] ?? null;
}

/** Finds a key by its SHA-256; null if there is none. */
export function findKeyByDigest(read: Connection, digest: Buffer): KeyRecord | null {
  return listKeys(read, eq(keys.digest, digest))[0] ?? null;
}

/** Lists the keys of an account in the order of their creation. */
export function listKeysOf(read: Connection, account: AccountNumber): KeyRecord[] {
  return listKeys(read, eq(keys.account, account));
}

/** Lists the keys that meet a condition, or all, in the order of their creation. */
export function listKeys(read: Connection, where?: SQL) {
  return read
    .select({
      id: keys.id,
      prefix: keys.prefix,
      label: keys.label,
      /** The ID of its account. */
      account: accounts.id,
      accountName: accounts.name,
      createdMs: keys.createdAt,
      revokedMs: keys.revokedAt,
      expiresMs: keys.expiresAt,
      /** The timestamp of the newest lead that it was sent. */
      readUpToMs: keys.readUpTo,
      /** The last UTC day with a request, `2026-01-31`. */
      lastUsed: sql<string | null>`(SELECT max(${usage.day}) FROM ${usage} WHERE ${usage.key} = ${keys.number})`,
    })
    .from(keys)
    .innerJoin(accounts, eq(accounts.number, keys.account))
    .where(where)
    .orderBy(asc(keys.number))
    .all();
}

/** Returns whether a key belonged to an account that was deleted. */
export function isOfDeletedAccount(read: Connection, digest: Buffer): boolean {
  return read.select().from(deletedKeys).where(eq(deletedKeys.digest, digest)).all().length > 0;
}
