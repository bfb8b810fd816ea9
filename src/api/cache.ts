/** A cache of what was read from the database, until somebody writes to it. */

/** A client chooses what it asks for, and could fill the memory with long names. All filters together are shorter. */
const maxNameLength = 500;

/** Makes a cache that holds no more than a given size. */
export function createCache<Value>(maxSize: number, sizeOf: (value: Value, name: string) => number) {
  const kept = new Map<string, Value>();
  let size = 0;
  let knownVersion = Number.NaN;

  function clear(): void {
    kept.clear();
    size = 0;
  }

  return {
    /** Returns the value under a name; null if none is kept, or the database has changed since. */
    get(name: string, databaseVersion: number): Value | null {
      if (databaseVersion !== knownVersion) clear();
      knownVersion = databaseVersion;
      return kept.get(name) ?? null;
    },
    /** Keeps what was read under a name. Call it after `get`, without waiting in between. */
    keep(name: string, value: Value): void {
      if (name.length > maxNameLength || kept.has(name)) return;
      const added = sizeOf(value, name);
      // Everything is dropped at once: what is asked for often is soon back.
      if (size + added > maxSize) clear();
      kept.set(name, value);
      size += added;
    },
  };
}
