/** Garbage collection in time: by itself the engine lets half a gigabyte gather while it goes through a long list. */

/** Passes things on, and collects garbage after every few of them. */
export function* collectingGarbage<Thing>(things: Iterable<Thing>, every: number): Generator<Thing> {
  let passed = 0;
  for (const thing of things) {
    yield thing;
    passed++;
    if (passed % every === 0) Bun.gc(true);
  }
}
