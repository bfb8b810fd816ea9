/** Similar words, for suggestions after a typing error. */

/**
 * Returns the most similar of some known words; null if there is none. At most a third of its letters differ, or the text has
 * the same letters in another order, or is the beginning of the word.
 */
export function closestTo(text: string, known: readonly string[]): string | null {
  const typed = text.toLowerCase().slice(0, 200);
  const near = known
    .map((one) => ({ one, distance: distanceOf(typed, one.toLowerCase()) }))
    .filter(({ one, distance }) => distance <= one.length / 3);
  return near.toSorted((one, other) => one.distance - other.distance)[0]?.one ?? null;
}

function distanceOf(typed: string, known: string): number {
  const isBeginning = typed.length > 2 && known.startsWith(typed);
  return isBeginning || [...typed].sort().join() === [...known].sort().join() ? 0 : editDistance(typed, known);
}

/** The number of letters to insert, delete, or replace to make one text the other (Levenshtein). */
function editDistance(one: string, other: string): number {
  let row = Array.from({ length: other.length + 1 }, (_, index) => index);
  for (const [line, letter] of [...one].entries()) {
    const next = [line + 1];
    for (let index = 1; index < row.length; index++) {
      const replaced = (row[index - 1] ?? 0) + (letter === other[index - 1] ? 0 : 1);
      next.push(Math.min(replaced, (row[index] ?? 0) + 1, (next[index - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row.at(-1) ?? 0;
}
