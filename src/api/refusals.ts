/** The 400 of each kind of wrong parameter, which names the parameter and says what it takes. */
import { ApiError, errors } from "../contract/errors.ts";
import { withoutKeys } from "../contract/key.ts";
import { editDistance } from "../contract/similar.ts";

/** The cursor has an error code of its own (§4.1 rule 3, §7). */
function refusal(name: string, message: string): ApiError {
  return new ApiError(name === "before" ? "invalid_cursor" : "invalid_parameter", message);
}

/** Returns the 400 of a value that the schema of its parameter does not accept. */
export function invalidValue(name: string, value: unknown, accepted: string): ApiError {
  if (value === null) {
    return refusal(name, `The parameter ${name} is not percent-encoded UTF-8, or has a NUL; it takes ${accepted}.`);
  }
  if (value === "") return refusal(name, `The parameter ${name} is empty; it takes ${accepted}, or leave it out.`);
  return refusal(name, errors.invalid_parameter.message(name, accepted));
}

/** Returns the 400 of a parameter that was sent more than once. */
export function repeatedParameter(name: string): ApiError {
  return refusal(name, `The parameter ${name} was sent more than once; send it once.`);
}

/** Returns the 400 of a parameter that the endpoint does not have, with the one that was probably meant. */
export function unknownParameter(name: string, known: readonly string[]): ApiError {
  // A client may log the message, and the name may be a key that was sent by mistake.
  const safe = withoutKeys(name);
  const shown = safe.length > 40 ? `${safe.slice(0, 40)}…` : safe;
  const is = `The parameter ${JSON.stringify(shown)} is unknown`;
  if (known.length === 0) return refusal(name, `${is}; this endpoint takes no parameters.`);
  const close = known.find((candidate) => isClose(name, candidate));
  return refusal(
    name,
    close === undefined ? `${is}; accepted are ${known.join(", ")}.` : `${is}; did you mean ${close}?`,
  );
}

/** A typing error in up to a third of the letters, the same letters in another order, or the beginning of the name. */
function isClose(name: string, candidate: string): boolean {
  if (name.length > 2 * candidate.length) return false;
  const lower = name.toLowerCase();
  if ([...lower].sort().join() === [...candidate].sort().join()) return true;
  return editDistance(lower, candidate) <= candidate.length / 3 || (lower.length > 2 && candidate.startsWith(lower));
}
