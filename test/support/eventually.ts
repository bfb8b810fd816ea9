/** Waits for the work of another process by repeated checks, and measures times that are promised in seconds. */

type Condition = () => boolean | Promise<boolean>;

/** Resolves once something holds; the time of the test is the only limit. */
export async function until(holds: Condition, everyMs = 20): Promise<void> {
  await holdsWithin(Number.POSITIVE_INFINITY, holds, everyMs);
}

/** Waits until something holds, or the time is up. Returns whether it holds. */
export async function holdsWithin(maxMs: number, holds: Condition, everyMs = 20): Promise<boolean> {
  for (const endMs = performance.now() + maxMs; !(await holds()); await Bun.sleep(everyMs)) {
    if (performance.now() > endMs) return false;
  }
  return true;
}

/** Resolves once the expectations of a function hold; throws what they say when the time is up. */
export async function eventually(expectations: () => Promise<void>, withinMs = 120_000): Promise<void> {
  let failure: unknown;
  const hold = () =>
    expectations().then(
      () => true,
      (cause) => {
        failure = cause;
        return false;
      },
    );
  if (!(await holdsWithin(withinMs, hold, 100))) throw failure;
}

/**
 * The least that a few tries give, such as a time. The first that is below what is promised is enough: other work on the
 * machine may hold up one of them, and what breaks the promise does so in each.
 */
export async function least(promised: number, attempt: () => Promise<number>, tries = 20): Promise<number> {
  const given = await attempt();
  return given < promised || tries === 1 ? given : Math.min(given, await least(promised, attempt, tries - 1));
}
