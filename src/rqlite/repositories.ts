/** Accounts, pixels and keys of a cluster: read from the file of the own node, written through the leader. */
import { and, eq, isNull, type SQL, sql } from "drizzle-orm";
import { randomText } from "../contract/random-text.ts";
import { openAccounts } from "../sqlite/accounts.ts";
import { openKeys } from "../sqlite/keys.ts";
import { openPixels } from "../sqlite/pixels.ts";
import { mostAccounts } from "../sqlite/position.ts";
import { accounts, audit, keys, pixels } from "../sqlite/schema.ts";
import { StoreError } from "../store/errors.ts";
import type { AuditEntry } from "../store/privacy.ts";
import type { AccountNumber } from "../store/reading.ts";
import type { AccountRepository, KeyRecord, KeyRepository, PixelRepository } from "../store/repositories.ts";
import type { LocalFile } from "./local-file.ts";
import type { Statement } from "./node/node.ts";
import { statementOf } from "./node/statement.ts";
import { type Writer, wentIn } from "./writer.ts";

export function openClusterAccounts(file: LocalFile, writer: Writer): AccountRepository {
  const stored = () => openAccounts(file.current());
  return {
    create(name, nowMs) {
      const id = `acc_${randomText(16)}`;
      const row = sql`SELECT ${id}, ${name}, 1, ${nowMs} WHERE (SELECT count(*) FROM ${accounts}) < ${mostAccounts}`;
      writer.commit([
        statementOf(sql`INSERT INTO ${accounts} (id, name, active, created_at) ${row} ON CONFLICT (name) DO NOTHING`),
      ]);
      const made = stored().find(id);
      if (made === null && stored().find(name) === null)
        throw new StoreError({ kind: "too many accounts", most: mostAccounts });
      return made;
    },
    list: () => stored().list(),
    find: (idOrName) => stored().find(idOrName),
    setActive(account, active) {
      const statement = sql`UPDATE ${accounts} SET active = ${active ? 1 : 0} WHERE number = ${account}`;
      if (active) writer.commit([statementOf(statement)]);
      else writer.commitEverywhere([statementOf(statement)]);
    },
  };
}

export function openClusterPixels(file: LocalFile, writer: Writer): PixelRepository {
  const stored = () => openPixels(file.current());
  return {
    list: (account) => stored().list(account),
    has: (account, id) => stored().has(account, id),
    create(account, { id, status }, nowMs) {
      if (stored().has(account, id)) return false;
      const row = sql`VALUES (${account}, ${id}, ${status}, ${nowMs})`;
      const insertion = statementOf(sql`INSERT INTO ${pixels} (account, id, status, created_at) ${row}`);
      // Refused where a command beside another node was faster.
      return wentIn(writer, () => writer.commit([insertion]));
    },
    setStatus(account, { id, status }) {
      if (!stored().has(account, id)) return false;
      const where = sql`account = ${account} AND id = ${id}`;
      writer.commit([statementOf(sql`UPDATE ${pixels} SET status = ${status} WHERE ${where}`)]);
      return true;
    },
  };
}

export function openClusterKeys(file: LocalFile, writer: Writer): KeyRepository {
  const stored = () => openKeys(file.current());

  /** Revokes a key, now or at a moment, unless it is revoked; it holds on every node when this returns. */
  function end(
    act: string,
    id: string,
    column: "revoked_at" | "expires_at",
    at: number,
    nowMs: number,
  ): KeyRecord | null {
    const key = stored().find(id);
    if (key === null) return null;
    const where = and(eq(keys.id, id), isNull(keys.revokedAt));
    writer.commitEverywhere([
      statementOf(sql`UPDATE ${keys} SET ${sql.raw(column)} = ${at} WHERE ${where}`),
      auditStatement({ atMs: nowMs, act, account: key.account, detail: { key: id } }),
    ]);
    return stored().find(id);
  }

  return {
    create(account, { digest, prefix, label, expiresMs = null }, nowMs) {
      const id = `key_${randomText(12)}`;
      writer.commit([
        statementOf(sql`INSERT INTO ${keys} (account, id, digest, prefix, label, created_at, expires_at)
                        VALUES (${account}, ${id}, ${digest}, ${prefix}, ${label}, ${nowMs}, ${expiresMs})`),
        auditOfAccount(account, { atMs: nowMs, act: "key.create", detail: { key: id } }),
      ]);
      const made = stored().find(id);
      if (made === null) throw new Error("a key that was just made is not there");
      return made;
    },
    list: (account) => stored().list(account),
    find: (id) => stored().find(id),
    requestsOfMonth: (id, nowMs) => stored().requestsOfMonth(id, nowMs),
    expire: (id, expiresMs, nowMs) => end("key.expire", id, "expires_at", expiresMs, nowMs),
    revoke: (id, nowMs) => end("key.revoke", id, "revoked_at", nowMs, nowMs),
    findByDigest: (digest) => stored().findByDigest(digest),
  };
}

/** Puts an act on record. */
export function auditStatement({ account, ...act }: AuditEntry): Statement {
  return insertAct(act, sql`${account}`);
}

/** The same where the account is known by its number. */
export function auditOfAccount(account: AccountNumber, act: Omit<AuditEntry, "account">): Statement {
  return insertAct(act, sql`(SELECT ${accounts.id} FROM ${accounts} WHERE ${accounts.number} = ${account})`);
}

function insertAct({ atMs, act, detail }: Omit<AuditEntry, "account">, account: SQL): Statement {
  return statementOf(sql`INSERT INTO ${audit} (at, act, account, detail)
                         VALUES (${atMs}, ${act}, ${account}, ${JSON.stringify(detail)})`);
}
