/** Values of JSON: parsed without a loss, and told apart. */

/** Parses JSON without losing the digits of long numbers, such as IDs. Returns undefined if the text is not JSON. */
export function parseJson(text: string): unknown {
  try {
    return longNumber.test(text) ? JSON.parse(text, keepDigits) : JSON.parse(text);
  } catch {
    // Its only failure is that the text is not JSON: callers then read it as something else, or reject it.
    return undefined;
  }
}

/** Matches a number that may exceed the precision of a double, such as an ID. */
const longNumber = /[[:,]\s*-?\d{16}/;

function keepDigits(_: string, value: unknown, context?: { readonly source?: string }): unknown {
  return typeof value === "number" && !Number.isSafeInteger(value) ? (context?.source ?? value) : value;
}

/** Returns whether a JSON value is an object. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
