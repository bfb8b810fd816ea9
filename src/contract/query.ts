/** A query string, read strictly: every parameter known, at most once, decodable, and as its schema has it. */
import { FormatRegistry, type Static, type TSchema } from "@sinclair/typebox";
import { ApiError, errors } from "./errors.ts";
import { pageSize } from "./limits.ts";
import { type LeadQuery, leadParameters, type Parameter } from "./parameters.ts";
import { cityKey } from "./stored-lead.ts";
import { readMoment } from "./time.ts";
import { unknownMessage } from "./unknown-parameter.ts";

/** The parameters of a query by name, raw as they came. */
type Sent = ReadonlyMap<string, string>;

const leadParameterNames = Object.keys(leadParameters);

/** Reads the query of GET /leads. Throws the 400 of the first parameter that is wrong. */
export function readLeadQuery(search: string): LeadQuery {
  const sent = splitQuery(search, leadParameterNames);
  const { limit, pixel_id, state, has_email } = leadParameters;
  // In the order of the table of §4.1: of two that are wrong, the first is named.
  return {
    limit: readValue(sent, "limit", limit) ?? pageSize.usual,
    beforeMs: readBound(sent, "before"),
    sinceMs: readBound(sent, "since"),
    pixelId: readValue(sent, "pixel_id", pixel_id),
    state: readValue(sent, "state", state)?.toUpperCase() ?? null,
    city: readCity(sent),
    hasEmail: readValue(sent, "has_email", has_email) ?? false,
  };
}

/** Reads the query of an endpoint that takes no parameters (§4.2, §4.3). Throws the 400 of any. */
export function readNoQuery(search: string): void {
  splitQuery(search, []);
}

/** Throws a 400 for an unknown parameter, then for a repeated one, each in the order in which the names first occur. */
function splitQuery(search: string, known: readonly string[]): Sent {
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

/** The value of one parameter, null where it was not sent; throws the 400 where its schema does not accept it. */
function readValue<Schema extends TSchema>(
  sent: Sent,
  name: string,
  { schema, check, accepts }: Parameter<Schema>,
): Static<Schema> | null {
  const raw = sent.get(name);
  if (raw === undefined) return null;
  const text = decode(raw);
  if (text === null) throw refuse(name, `The parameter ${name} is not percent-encoded UTF-8; it takes ${accepts}.`);
  if (text === "") throw refuse(name, `The parameter ${name} is empty; it takes ${accepts}, or leave it out.`);
  const value = meaningOf(text, schema);
  if (!check.Check(value)) throw refuse(name, errors.invalid_parameter.message(name, accepts));
  return value;
}

/** The value that a text stands for, by the type of its schema. A text that is no such value stays a text. */
function meaningOf(text: string, schema: TSchema): unknown {
  // "05", "5.0" and "0x5" are other ways to write a number; only the canonical one is taken.
  if (schema["type"] === "integer") return String(Number(text)) === text ? Number(text) : text;
  if (schema["type"] === "boolean" && (text === "true" || text === "false")) return text === "true";
  // A + that was not encoded has become a space on its way.
  return schema["format"] === "date-time" ? text.replace(/ (\d{2}:\d{2})$/, "+$1") : text;
}

// TypeBox checks a moment by its pattern alone. Which days a month has, and which years are kept, is checked here.
FormatRegistry.Set("date-time", () => true);

/** Bounds round up past the millisecond, so that "at or after" and "strictly before" stay true of stored leads. */
function readBound(sent: Sent, name: "before" | "since"): number | null {
  const text = readValue(sent, name, leadParameters[name]);
  if (text === null) return null;
  const ms = readMoment(text, "up");
  if (ms === null) throw refuse(name, errors.invalid_parameter.message(name, leadParameters[name].accepts));
  return ms;
}

function readCity(sent: Sent): string | null {
  const city = readValue(sent, "city", leadParameters.city);
  return city === null ? null : cityKey(city);
}

/** The refusal of a parameter; the cursor has a code of its own (§4.1 rule 3, §7). */
function refuse(parameter: string, message: string): ApiError {
  return new ApiError(parameter === "before" ? "invalid_cursor" : "invalid_parameter", message);
}
