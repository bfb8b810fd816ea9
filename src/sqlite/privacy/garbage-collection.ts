/** Memory that is let go of in time: left to itself the engine collects half a gigabyte of a long list first. */

/** Passes things on as they are asked for, and collects what became of them after each so many. */
export function* collectingGarbage<Thing>(things: Iterable<Thing>, each: number): Generator<Thing> {
  let passed = 0;
  for (const thing of things) {
    yield thing;
    passed++;
    if (passed % each === 0) Bun.gc(true);
  }
}
