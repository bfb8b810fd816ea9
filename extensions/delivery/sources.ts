/** Sources: only the digest of a token is kept, and a revocation is final. */
import { and, asc, eq, isNull, type SQL } from "drizzle-orm";
import { randomText } from "../../src/contract/random-text.ts";
import { openRecorded } from "../../src/db/audit.ts";
import type { Connection } from "../../src/db/connection.ts";
import { accounts, sources } from "../../src/db/schema.ts";
import type { Source, SourceRepository } from "./source-types.ts";

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
  const recorded = openRecorded(database, "source", find);

  return {
    create(account, { options, ...source }, nowMs) {
      const id = `src_${randomText(12)}`;
      const row = { account, id, ...source, options: JSON.stringify(options), createdAt: nowMs };
      return recorded.create(id, account, nowMs, () => database.insert(sources).values(row).run());
    },
    find,
    list: (account) => select(eq(sources.account, account)),
    revoke(id, nowMs) {
      const live = and(eq(sources.id, id), isNull(sources.revokedAt));
      const revoke = () => void database.update(sources).set({ revokedAt: nowMs }).where(live).run();
      return recorded.change("source.revoke", id, nowMs, revoke);
    },
    finder: () => ({ findByDigest: (digest) => select(eq(sources.digest, digest))[0] ?? null }),
  };
}
