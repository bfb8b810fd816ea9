/** Sources: only the digest of a token is kept, and a revocation is final. */
import { and, asc, eq, isNull, type SQL } from "drizzle-orm";
import { randomText } from "../contract/random-text.ts";
import type { Source, SourceRepository } from "../store/sources.ts";
import { writeOnRecord } from "./audit.ts";
import type { Connection } from "./connection.ts";
import { accounts, sources } from "./schema.ts";

export function openSources(database: Connection): SourceRepository {
  const select = (where: SQL): Source[] =>
    database
      .select({
        id: sources.id,
        account: accounts.id,
        prefix: sources.prefix,
        label: sources.label,
        options: sources.options,
        createdMs: sources.createdAt,
        revokedMs: sources.revokedAt,
      })
      .from(sources)
      .innerJoin(accounts, eq(accounts.number, sources.account))
      .where(where)
      .orderBy(asc(sources.number))
      .all()
      .map((row) => ({ ...row, options: JSON.parse(row.options) }));

  const find = (id: string) => select(eq(sources.id, id))[0] ?? null;
  const change = (act: string, id: string, nowMs: number, write: () => void) =>
    writeOnRecord(database, { atMs: nowMs, act, detail: { source: id } }, { write, find: () => find(id) });

  return {
    create(account, { options, ...source }, nowMs) {
      const id = `src_${randomText(12)}`;
      const row = { account, id, ...source, options: JSON.stringify(options), createdAt: nowMs };
      const made = change("source.create", id, nowMs, () => database.insert(sources).values(row).run());
      if (made === null) throw new Error("a source that was just made is not there");
      return made;
    },
    find,
    list: (account) => select(eq(sources.account, account)),
    revoke: (id, nowMs) =>
      change("source.revoke", id, nowMs, () => {
        const live = and(eq(sources.id, id), isNull(sources.revokedAt));
        database.update(sources).set({ revokedAt: nowMs }).where(live).run();
      }),
    finder: () => ({ findByDigest: (digest) => select(eq(sources.digest, digest))[0] ?? null }),
  };
}
