/** Keys (§3, §5): only the digest is kept, and a revocation is final. */
import { and, asc, between, eq, isNull, type SQL, sql, sum } from "drizzle-orm";
import { randomText } from "../contract/key.ts";
import { dayOf, monthOf } from "../contract/time.ts";
import type { KeyFinder } from "../store/reading.ts";
import type { KeyRecord, KeyRepository } from "../store/repositories.ts";
import { recordAct } from "./audit.ts";
import type { Connection } from "./connection.ts";
import { placeholder } from "./placeholder.ts";
import { accounts, keys, usage } from "./schema.ts";

/** Looks keys up in the file at every call. */
export function openKeyFinder(database: Connection): KeyFinder {
  const known = database
    .select({
      number: keys.number,
      account: keys.account,
      prefix: keys.prefix,
      revokedAt: keys.revokedAt,
      expiresAt: keys.expiresAt,
      subscribed: accounts.active,
    })
    .from(keys)
    .innerJoin(accounts, eq(accounts.number, keys.account))
    .where(eq(keys.digest, placeholder.blob("digest")))
    .prepare();
  return {
    find(digest) {
      const found = known.get({ digest });
      if (found === undefined) return null;
      const { revokedAt, expiresAt, ...key } = found;
      return { ...key, revoked: revokedAt !== null, expiresMs: expiresAt ?? Number.POSITIVE_INFINITY };
    },
  };
}

export function openKeys(database: Connection): KeyRepository {
  const records = (where: SQL): KeyRecord[] =>
    database
      .select({
        id: keys.id,
        prefix: keys.prefix,
        label: keys.label,
        account: accounts.id,
        createdMs: keys.createdAt,
        revokedMs: keys.revokedAt,
        expiresMs: keys.expiresAt,
        lastUsed: sql<string | null>`(SELECT max(${usage.day}) FROM ${usage} WHERE ${usage.key} = ${keys.number})`,
      })
      .from(keys)
      .innerJoin(accounts, eq(accounts.number, keys.account))
      .where(where)
      .orderBy(asc(keys.number))
      .all();
  const byId = (id: string) => records(eq(keys.id, id))[0] ?? null;
  /** Changes a key and puts it on record, both or none. */
  function change(act: string, nowMs: number, work: () => string): KeyRecord | null {
    return database.transaction(
      () => {
        const record = byId(work());
        if (record !== null) {
          recordAct(database, { atMs: nowMs, act, account: record.account, detail: { key: record.id } });
        }
        return record;
      },
      { behavior: "immediate" },
    );
  }

  function update(act: string, id: string, at: number, nowMs: number, column: "revokedAt" | "expiresAt") {
    return change(act, nowMs, () => {
      const live = and(eq(keys.id, id), isNull(keys.revokedAt));
      database
        .update(keys)
        .set({ [column]: at })
        .where(live)
        .run();
      return id;
    });
  }

  return {
    create(account, { expiresMs, ...key }, nowMs) {
      const record = change("key.create", nowMs, () => {
        const id = `key_${randomText(12)}`;
        const row = { account, id, ...key, createdAt: nowMs, expiresAt: expiresMs ?? null };
        database.insert(keys).values(row).run();
        return id;
      });
      if (record === null) throw new Error("a key that was just made is not there");
      return record;
    },
    list: (account) => records(eq(keys.account, account)),
    find: byId,
    requestsOfMonth(account, nowMs) {
      const rows = database
        .select({ id: keys.id, requests: sum(usage.requests).mapWith(Number) })
        .from(usage)
        .innerJoin(keys, eq(keys.number, usage.key))
        .where(and(eq(keys.account, account), between(usage.day, ...monthOf(dayOf(nowMs)))))
        .groupBy(keys.id)
        .all();
      return new Map(rows.map(({ id, requests }) => [id, requests]));
    },
    revoke: (id, nowMs) => update("key.revoke", id, nowMs, nowMs, "revokedAt"),
    expire: (id, expiresMs, nowMs) => update("key.expire", id, expiresMs, nowMs, "expiresAt"),
    findByDigest: (digest) => records(eq(keys.digest, digest))[0] ?? null,
  };
}
