/** What was read from the store, kept in memory until somebody writes to the store. */

export interface Cache<Value> {
  /** The value under a name; null where none is kept, or the store has changed since. */
  get(name: string, storeVersion: number): Value | null;
  /** Keeps what was read under a name. To be called after `get`, with nothing in between that waits. */
  keep(name: string, value: Value): void;
}

/** A client chooses what it asks for, and could fill the memory with long names. All filters together are shorter. */
const longestName = 500;

/** Makes a cache that holds no more than a given size. */
export function createCache<Value>(largestSize: number, sizeOf: (value: Value, name: string) => number): Cache<Value> {
  const kept = new Map<string, Value>();
  let size = 0;
  let knownVersion = Number.NaN;

  function clear(): void {
    kept.clear();
    size = 0;
  }

  return {
    get(name, storeVersion) {
      if (storeVersion !== knownVersion) clear();
      knownVersion = storeVersion;
      return kept.get(name) ?? null;
    },
    keep(name, value) {
      if (name.length > longestName) return;
      const added = sizeOf(value, name);
      // Everything is dropped at once: what is asked for often is soon back.
      if (size + added > largestSize) clear();
      kept.set(name, value);
      size += added;
    },
  };
}
