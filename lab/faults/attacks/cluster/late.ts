/** What is promised in seconds, or of a node that runs: other work on the machine can hold it up, but not in every try. */

/** Tries up to three times; gives what was late in the last one, which is nothing as soon as one try was in time. */
export async function lateInEach(attempt: () => Promise<readonly string[]>, tries = 3): Promise<readonly string[]> {
  const late = await attempt();
  return late.length === 0 || tries === 1 ? late : lateInEach(attempt, tries - 1);
}

/** This many keys are enough for every try of every turn, where each needs one. */
export const keysFor = (turns: number) => turns * 3;
