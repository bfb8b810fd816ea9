/** The query parameters of GET /leads (§4.1): what each accepts, and how it is read. */
import { type TSchema, Type } from "@sinclair/typebox";
import { cityKey } from "./lead.ts";
import { pageSize } from "./limits.ts";
import { decodeValue, readQuery, refuse } from "./query.ts";
import { readMoment } from "./time.ts";

interface Parameter<Value> {
  readonly schema: TSchema;
  /** Completes the sentence "it takes …" of a refusal. */
  readonly accepts: string;
  /** The value that a decoded text stands for, or null when it is none. */
  readonly read: (text: string) => Value | null;
}

const moments = "an RFC 3339 date-time with an offset, such as 2026-01-31T09:15:00Z (a + in the offset is sent as %2B)";

/** Stricter than the format alone, which validators read in different ways: no space for the T, no leap second. */
const momentPattern =
  "^\\d{4}-\\d{2}-\\d{2}[Tt]([01]\\d|2[0-3]):[0-5]\\d:[0-5]\\d(\\.\\d+)?([Zz]|[+-]([01]\\d|2[0-3]):[0-5]\\d)$";

const momentSchema = (description: string) =>
  Type.String({
    format: "date-time",
    pattern: momentPattern,
    description,
    examples: ["2026-01-31T09:15:00.123Z"],
  });

/** In the order of the table of §4.1, which is the order in which they are checked. */
export const leadParameters = {
  limit: {
    schema: Type.Integer({
      minimum: pageSize.least,
      maximum: pageSize.most,
      default: pageSize.usual,
      description: "Results per page.",
      examples: [100],
    }),
    accepts: `a whole number from ${pageSize.least} to ${pageSize.most}`,
    read: readLimit,
  },
  before: {
    schema: momentSchema("Pagination cursor: only leads identified strictly before this time."),
    accepts: `the next_cursor of a page or ${moments}`,
    read: readBound,
  },
  since: {
    schema: momentSchema("Only leads identified at or after this time."),
    accepts: moments,
    read: readBound,
  },
  pixel_id: {
    schema: Type.String({
      minLength: 1,
      pattern: "^[^\\u0000]*$",
      description: "Restrict to one pixel. It must belong to the account.",
      examples: ["px_shop"],
    }),
    accepts: "the id of a pixel that GET /api/v1/pixels lists",
    read: (text) => text,
  },
  state: {
    schema: Type.String({ pattern: "^[A-Za-z]{2}$", description: "Two-letter US state code.", examples: ["CA"] }),
    accepts: "two letters, such as CA",
    read: (text) => (/^[A-Za-z]{2}$/.test(text) ? text.toUpperCase() : null),
  },
  city: {
    schema: Type.String({
      minLength: 1,
      maxLength: 200,
      pattern: "^[^\\u0000]*[^\\s\\u0000][^\\u0000]*$",
      description: "City name; case-insensitive exact match.",
      examples: ["San Diego"],
    }),
    accepts: "a name of 1 to 200 characters",
    read: readCity,
  },
  has_email: {
    schema: Type.Boolean({
      description: "When true, only leads that have an email address are returned; false filters nothing.",
    }),
    accepts: "true or false",
    read: readBoolean,
  },
} as const satisfies Record<string, Parameter<unknown>>;

export type LeadParameter = keyof typeof leadParameters;

const leadParameterNames = Object.keys(leadParameters) as LeadParameter[]; // Object.keys forgets the names.

/** What a page of leads is chosen by; null filters nothing. */
export interface LeadQuery {
  readonly limit: number;
  /** Only leads strictly before this moment, in Unix milliseconds. */
  readonly beforeMs: number | null;
  /** Only leads at or after this moment, in Unix milliseconds. */
  readonly sinceMs: number | null;
  readonly pixelId: string | null;
  /** Two upper-case letters. */
  readonly state: string | null;
  /** A city in the form of `cityKey`. */
  readonly city: string | null;
  readonly hasEmail: boolean;
}

/** Reads the query string of GET /leads; throws the 400 of the first parameter that is wrong. */
export function readLeadQuery(search: string): LeadQuery {
  const raw = readQuery(search, leadParameterNames);
  return {
    limit: value(raw, "limit") ?? pageSize.usual,
    beforeMs: value(raw, "before"),
    sinceMs: value(raw, "since"),
    pixelId: value(raw, "pixel_id"),
    state: value(raw, "state"),
    city: value(raw, "city"),
    hasEmail: value(raw, "has_email") ?? false,
  };
}

/** Refuses any parameter, for the endpoints that take none (§4.2, §4.3). */
export function readNoQuery(search: string): void {
  readQuery(search, []);
}

type ValueOf<Name extends LeadParameter> = ReturnType<(typeof leadParameters)[Name]["read"]>;

function value<Name extends LeadParameter>(raw: Map<string, string>, name: Name): ValueOf<Name> | null {
  const text = raw.get(name);
  if (text === undefined) return null;
  const { accepts, read } = leadParameters[name];
  const found = read(decodeValue(name, text, accepts));
  if (found === null) throw refuse(name, `The parameter ${name} takes ${accepts}.`);
  return found as ValueOf<Name>; // The compiler does not follow the name through the table.
}

function readLimit(text: string): number | null {
  if (!/^[1-9][0-9]{0,2}$/.test(text)) return null;
  const limit = Number(text);
  return limit <= pageSize.most ? limit : null;
}

/** Bounds round up past the millisecond, so that "at or after" and "strictly before" stay true of stored leads. */
function readBound(text: string): number | null {
  // The + of an offset that was not encoded has become a space on its way.
  return readMoment(text.replace(/ (\d{2}:\d{2})$/, "+$1"), "up");
}

function readCity(text: string): string | null {
  const length = [...text.trim()].length;
  return length >= 1 && length <= 200 ? cityKey(text) : null;
}

function readBoolean(text: string): boolean | null {
  if (text === "true") return true;
  return text === "false" ? false : null;
}
