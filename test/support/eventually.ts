/** Waits for the work of another process by repeated checks. */

/** Resolves once something holds; the time of the test is the only limit. */
export async function until(holds: () => boolean | Promise<boolean>, everyMs = 20): Promise<void> {
  while (!(await holds())) await Bun.sleep(everyMs);
}

/** Resolves once the expectations of a function hold; throws what they say when the time is up. */
export function eventually(expectations: () => Promise<void>, withinMs = 120_000): Promise<void> {
  const endMs = performance.now() + withinMs;
  async function hold(): Promise<boolean> {
    try {
      await expectations();
      return true;
    } catch (cause) {
      if (performance.now() > endMs) throw cause;
      return false;
    }
  }
  return until(hold, 100);
}
