/** Keys that are presented again and again, found in memory until another process writes to the file. */
import type { KeyFinder, KnownKey } from "../../store/reading.ts";

/** All keys of an instance, unless it is a very large one. */
const mostKeys = 20_000;

export interface KeyCache extends KeyFinder {
  forget(): void;
}

export function cacheKeys(keys: KeyFinder): KeyCache {
  const known = new Map<string, KnownKey>();
  return {
    find(digest) {
      const name = digest.toString("latin1");
      const cached = known.get(name);
      if (cached !== undefined) return cached;
      const found = keys.find(digest);
      if (found === null) return null;
      // A key that is used often is soon back.
      if (known.size >= mostKeys) known.clear();
      known.set(name, found);
      return found;
    },
    forget: () => known.clear(),
  };
}
