/** Folders that rest when an import met trouble, such as a full disk: each try would fill it again. */
import type { Outcome } from "./put-away.ts";

const firstMs = 1_000;
const longestMs = 60_000;

export function createRests(now: () => number) {
  const rests = new Map<string, { readonly sinceMs: number; readonly ms: number }>();
  return {
    isResting(name: string): boolean {
      const rest = rests.get(name);
      if (rest === undefined) return false;
      const restedMs = now() - rest.sinceMs;
      // A clock that went back ends it.
      return restedMs >= 0 && restedMs < rest.ms;
    },
    /** Begins a rest, twice as long as the last one, or ends all of them. Gives back what became of the import. */
    note(name: string, outcome: Outcome): Outcome {
      const last = rests.get(name);
      const ms = last === undefined ? firstMs : Math.min(2 * last.ms, longestMs);
      if (outcome.kind === "later") rests.set(name, { sinceMs: now(), ms });
      else rests.delete(name);
      return outcome;
    },
  };
}
