/** Keys (§3, §5): only the digest is kept, and a revocation is final. */
import { and, asc, eq, isNull, type SQL, sql } from "drizzle-orm";
import { randomText } from "../contract/key.ts";
import type { KeyBook, KeyFinder, KeyRecord } from "../store.ts";
import type { Connection } from "./connection.ts";
import { accounts, keys, usage } from "./tables.ts";

/** Looks keys up in the file at every call, so that what another process revoked is refused at once. */
export function openKeyFinder(database: Connection): KeyFinder {
  const known = database
    .select({
      number: keys.number,
      account: keys.account,
      prefix: keys.prefix,
      revokedAt: keys.revokedAt,
      subscribed: accounts.active,
    })
    .from(keys)
    .innerJoin(accounts, eq(accounts.number, keys.account))
    .where(eq(keys.digest, sql.placeholder("digest")))
    .prepare();
  return {
    find(digest) {
      const found = known.get({ digest });
      if (found === undefined) return null;
      const { revokedAt, ...key } = found;
      return { ...key, revoked: revokedAt !== null };
    },
  };
}

export function openKeys(database: Connection): KeyBook {
  const records = (where: SQL): KeyRecord[] =>
    database
      .select({
        id: keys.id,
        prefix: keys.prefix,
        label: keys.label,
        account: accounts.id,
        createdMs: keys.createdAt,
        revokedMs: keys.revokedAt,
        lastUsed: sql<string | null>`(SELECT max(${usage.day}) FROM ${usage} WHERE ${usage.key} = ${keys.number})`,
      })
      .from(keys)
      .innerJoin(accounts, eq(accounts.number, keys.account))
      .where(where)
      .orderBy(asc(keys.number))
      .all();
  const byId = (id: string) => records(eq(keys.id, id))[0] ?? null;
  return {
    create(account, key, nowMs) {
      const id = `key_${randomText(12)}`;
      database
        .insert(keys)
        .values({ account, id, ...key, createdAt: nowMs })
        .run();
      const record = byId(id);
      if (record === null) throw new Error("a key that was just made is not there");
      return record;
    },
    list: (account) => records(eq(keys.account, account)),
    revoke(id, nowMs) {
      const live = and(eq(keys.id, id), isNull(keys.revokedAt));
      database.update(keys).set({ revokedAt: nowMs }).where(live).run();
      return byId(id);
    },
    findByDigest: (digest) => records(eq(keys.digest, digest))[0] ?? null,
  };
}
