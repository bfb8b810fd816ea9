/** What a client is told of a parameter that its endpoint does not take. */
import { distance } from "fastest-levenshtein";
import { withoutKeys } from "./new-key.ts";

/** The message of the refusal, with the parameter that was perhaps meant. */
export function unknownMessage(name: string, known: readonly string[]): string {
  // A client may log what it is told.
  const told = withoutKeys(name);
  const shown = told.length > 40 ? `${told.slice(0, 40)}…` : told;
  const is = `The parameter ${JSON.stringify(shown)} is unknown`;
  if (known.length === 0) return `${is}; this endpoint takes no parameters.`;
  const close = known.find((candidate) => isClose(name, candidate));
  return close === undefined ? `${is}; accepted are ${known.join(", ")}.` : `${is}; did you mean ${close}?`;
}

/** A typing error of up to a third of the letters, the same letters in another order, or the beginning of the name. */
function isClose(name: string, candidate: string): boolean {
  if (name.length > 2 * candidate.length) return false;
  const lower = name.toLowerCase();
  if ([...lower].sort().join() === [...candidate].sort().join()) return true;
  return distance(lower, candidate) <= candidate.length / 3 || (lower.length > 2 && candidate.startsWith(lower));
}
