/** What another process will do sooner or later: a condition is asked again until it holds. */

const everyMs = 100;

/** Resolves once the expectations of a function hold; throws what they say when the time is up. */
export async function eventually(expectations: () => Promise<void>, withinMs = 40_000): Promise<void> {
  const endMs = performance.now() + withinMs;
  for (;;) {
    try {
      await expectations();
      return;
    } catch (cause) {
      if (performance.now() > endMs) throw cause;
    }
    await Bun.sleep(everyMs);
  }
}
