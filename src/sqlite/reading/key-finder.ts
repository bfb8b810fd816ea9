/** Finds a key by its digest (§5): in memory, where it was presented before and nobody has written since, else in the file. */
import { eq } from "drizzle-orm";
import type { KeyFinder, KnownKey } from "../../store/reading.ts";
import type { Connection } from "../connection.ts";
import { accounts, keys } from "../schema.ts";
import { placeholder } from "./placeholder.ts";

/** All keys of an instance, unless it is a very large one. */
const mostKeys = 20_000;

export interface CachedKeyFinder extends KeyFinder {
  /** To be called when others have written: a key may be revoked. */
  forget(): void;
}

export function openKeyFinder(database: Connection): CachedKeyFinder {
  const statement = prepareFind(database);
  const known = new Map<string, KnownKey>();
  return {
    find(digest) {
      const name = digest.toString("latin1");
      const cached = known.get(name);
      if (cached !== undefined) return cached;
      const found = statement.get({ digest });
      if (found === undefined) return null;
      const { revokedAt, expiresAt, ...rest } = found;
      const key = { ...rest, revoked: revokedAt !== null, expiresMs: expiresAt ?? Number.POSITIVE_INFINITY };
      // A key that is used often is soon back.
      if (known.size >= mostKeys) known.clear();
      known.set(name, key);
      return key;
    },
    forget: () => known.clear(),
  };
}

function prepareFind(database: Connection) {
  return database
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
}
