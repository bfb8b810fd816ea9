/** Measures times that are promised in seconds, on a machine whose other work may take one of them. */

/**
 * The least that a few tries give, such as a time. The first that is below what is promised is enough: other work on the
 * machine may hold up one of them, and what breaks the promise does so in each.
 */
export async function least(promised: number, attempt: () => Promise<number>, tries = 20): Promise<number> {
  const given = await attempt();
  return given < promised || tries === 1 ? given : Math.min(given, await least(promised, attempt, tries - 1));
}
