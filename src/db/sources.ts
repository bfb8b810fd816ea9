/** Sources: the addresses at which vendors deliver leads. Only the digest of a token is kept, and a revocation is final. */
import { and, asc, eq, isNull, type SQL } from "drizzle-orm";
import { randomText } from "../contract/random-text.ts";
import type { AccountNumber } from "./accounts.ts";
import { openRecorded } from "./audit.ts";
import type { Connection } from "./connection.ts";
import { accounts, sources } from "./schema.ts";

export interface Source {
  readonly id: string;
  /** The ID of its account. */
  readonly account: string;
  /** The first characters of its token. */
  readonly prefix: string;
  readonly label: string | null;
  /** How its rows are read: options of an import by their long names. */
  readonly options: Readonly<Record<string, string | boolean>>;
  readonly createdMs: number;
  readonly revokedMs: number | null;
}

type NewSource = Pick<Source, "prefix" | "label" | "options"> & { readonly digest: Buffer };

/**
 * What the webhook endpoint asks: the source with this token as it is now. Throws if nobody can say, as on a
 * node that cannot reach the rest of its cluster.
 */
export interface SourceFinder {
  findByDigest(digest: Buffer): Source | null;
}

export interface SourceRepository {
  /** For an endpoint, which goes on for as long as the store is open. */
  finder(): SourceFinder;
  create(account: AccountNumber, source: NewSource, nowMs: number): Source;
  list(account: AccountNumber): Source[];
  find(id: string): Source | null;
  /** The source as it is after its revocation, which is final; null if there is none with this ID. */
  revoke(id: string, nowMs: number): Source | null;
}

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
