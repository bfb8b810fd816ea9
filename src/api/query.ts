/** The query string, read strictly before Elysia validates it: every parameter known, sent once, and decodable. */
import { Type } from "@sinclair/typebox";
import { repeatedParameter, unknownParameter } from "../contract/errors.ts";
import type { LeadParameter } from "../contract/parameters.ts";
import type { Call } from "./call.ts";

/** The query of an endpoint that takes no parameters. */
export const noParameters = Type.Object({});

interface Queried {
  readonly call: Call;
  query: unknown;
}

/**
 * Makes the `transform` of a route that takes some parameters. Elysia would ignore unknown parameters, take the last of
 * repeated ones, and pass on what it cannot decode. The transform throws the 400 of the first unknown parameter, then
 * that of the first repeated one, and leaves the values for the schema of the route to check.
 */
export function strictQuery(...known: readonly LeadParameter[]): (context: Queried) => void {
  return (context) => {
    context.query = readQuery(context.call.search, known);
  };
}

function readQuery(search: string, known: readonly LeadParameter[]): Record<string, unknown> {
  const query: Record<string, unknown> = {};
  const repeated = new Set<string>();
  for (const pair of search.split("&")) {
    if (pair === "") continue;
    const [sent, value] = splitPair(pair);
    const name = known.find((one) => one === sent);
    if (name === undefined) throw unknownParameter(sent, known);
    if (Object.hasOwn(query, name)) repeated.add(name);
    else query[name] = readValue(name, value);
  }
  const first = Object.keys(query).find((name) => repeated.has(name));
  if (first !== undefined) throw repeatedParameter(first);
  return query;
}

/** Splits a pair into its decoded name and its raw value. Without an equals sign, the value is empty. */
function splitPair(pair: string): [name: string, value: string] {
  const equals = pair.indexOf("=");
  const name = equals === -1 ? pair : pair.slice(0, equals);
  return [decode(name) ?? name, equals === -1 ? "" : pair.slice(equals + 1)];
}

/** Decodes a name or a value; null if it is not percent-encoded UTF-8, or has a NUL. */
function decode(raw: string): string | null {
  // Most names and values are plain. To see that costs a fraction of decoding them.
  if (!/[%+]/.test(raw)) return raw;
  try {
    const text = decodeURIComponent(raw.replaceAll("+", " "));
    return text.includes("\0") ? null : text;
  } catch {
    return null;
  }
}

/** Returns the value of a parameter. A text that is no value stays as it is, and fails validation. */
function readValue(name: LeadParameter, raw: string): unknown {
  const text = decode(raw);
  if (text === null) return null;
  switch (name) {
    case "limit":
      // "05", "5.0" and "0x5" are other ways to write a number. Only the canonical one is accepted.
      return String(Number(text)) === text ? Number(text) : text;
    case "has_email":
      return text === "true" || text === "false" ? text === "true" : text;
    case "before":
    case "since":
      // A + that was not encoded has become a space.
      return text.replace(/ (\d{2}:?\d{2})$/, "+$1");
    default:
      return text;
  }
}
