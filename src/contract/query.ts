/** A query string, read strictly: every parameter known, at most once, decodable, and as its schema has it. */

import type { Static, TSchema } from "@sinclair/typebox";
import { TypeCompiler } from "@sinclair/typebox/compiler";
import { distance } from "fastest-levenshtein";
import { ApiError, errors } from "./errors.ts";

interface Parameter<Value> {
  readonly schema: TSchema;
  /** Completes the sentence "it takes …" of a refusal. */
  readonly accepts: string;
  /** The value that a decoded text stands for, or null where the schema does not accept it. */
  read(text: string): Value | null;
}

/** Makes a parameter. Its schema is compiled once; `normalize` gives what leads are chosen by, or null to refuse. */
export function defineParameter<Schema extends TSchema, Value>(
  schema: Schema,
  accepts: string,
  normalize: (value: Static<Schema>) => Value | null,
): Parameter<Value> {
  const compiled = TypeCompiler.Compile(schema);
  return {
    schema,
    accepts,
    read(text) {
      const value = meaningOf(text, schema);
      return compiled.Check(value) ? normalize(value) : null;
    },
  };
}

/**
 * The value that a text in a query stands for, by the type of its schema. A text that is no such value stays a text.
 */
function meaningOf(text: string, schema: TSchema): unknown {
  // "05", "5.0" and "0x5" are other ways to write a number; only the canonical one is taken.
  if (schema["type"] === "integer") return String(Number(text)) === text ? Number(text) : text;
  if (schema["type"] === "boolean" && (text === "true" || text === "false")) return text === "true";
  // A + that was not encoded has become a space on its way.
  return schema["format"] === "date-time" ? text.replace(/ (\d{2}:\d{2})$/, "+$1") : text;
}

/** The one parameter with an error code of its own (§4.1 rule 3). */
const cursorParameter = "before";

/** Refuses a parameter with its code: `invalid_cursor` for the cursor, `invalid_parameter` for all others (§7). */
function refuse(parameter: string, message: string): ApiError {
  return new ApiError(parameter === cursorParameter ? "invalid_cursor" : "invalid_parameter", message);
}

/**
 * The parameters of a query string (without its question mark) by name, raw as they came.
 * Throws a 400 for an unknown parameter, then for a repeated one, each in the order in which the names first occur.
 */
export function readQuery(search: string, known: readonly string[]): Map<string, string> {
  const values = new Map<string, string>();
  const repeated = new Set<string>();
  const pairs = search.split("&").filter((pair) => pair !== "");
  for (const [name, value] of pairs.map(splitPair)) {
    if (!known.includes(name)) throw refuse(name, unknownMessage(name, known));
    if (values.has(name)) repeated.add(name);
    else values.set(name, value);
  }
  for (const name of values.keys()) {
    if (repeated.has(name)) throw refuse(name, `The parameter ${name} was sent more than once; send it once.`);
  }
  return values;
}

/** The decoded name and the raw value of a pair; without an equals sign the value is empty. */
function splitPair(pair: string): [name: string, value: string] {
  const equals = pair.indexOf("=");
  if (equals === -1) return [decode(pair) ?? pair, ""];
  const name = pair.slice(0, equals);
  return [decode(name) ?? name, pair.slice(equals + 1)];
}

/** The value of one parameter, null where it was not sent; throws the 400 where its schema does not accept it. */
export function readParameter<Value>(
  sent: ReadonlyMap<string, string>,
  name: string,
  { accepts, read }: Parameter<Value>,
): Value | null {
  const raw = sent.get(name);
  if (raw === undefined) return null;
  const text = decode(raw);
  if (text === null) throw refuse(name, `The parameter ${name} is not percent-encoded UTF-8; it takes ${accepts}.`);
  if (text === "") throw refuse(name, `The parameter ${name} is empty; it takes ${accepts}, or leave it out.`);
  const value = read(text);
  if (value === null) throw refuse(name, errors.invalid_parameter.message(name, accepts));
  return value;
}

/** The text that a name or a value stands for; null where it is not percent-encoded UTF-8. */
function decode(raw: string): string | null {
  // Most names and values are plain, and seeing that costs a fraction of decoding them.
  if (!/[%+]/.test(raw)) return raw;
  try {
    return decodeURIComponent(raw.replaceAll("+", " "));
  } catch {
    return null;
  }
}

/** The message of the refusal, with the parameter that was perhaps meant. */
function unknownMessage(name: string, known: readonly string[]): string {
  const shown = name.length > 40 ? `${name.slice(0, 40)}…` : name;
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
