/** The query parameters of GET /leads (§4.1): what each accepts, and the query that they make. */
import { FormatRegistry, Kind, type Static, Type, TypeRegistry } from "@sinclair/typebox";
import { pageSize } from "./limits.ts";
import { paths } from "./paths.ts";
import { cityKey } from "./stored-lead.ts";
import { parseTime } from "./time.ts";

const maxCityLength = 200;

// The format alone would accept any date, such as February 30.
FormatRegistry.Set("date-time", (text) => parseTime(text, "up") !== null);

// JSON Schema counts characters. TypeBox counts the halves of one that is outside the first 65,536, such as an emoji.
TypeRegistry.Set("City", (_, value) => {
  const characters = typeof value === "string" ? [...value.trim()].length : 0;
  return characters > 0 && characters <= maxCityLength;
});

const dateTime = "an RFC 3339 date-time with an offset, such as 2026-01-31T09:15:00Z (send a + in the offset as %2B)";

const timestamp = (description: string, error = dateTime) =>
  Type.String({ format: "date-time", description, examples: ["2026-01-31T09:15:00.123Z"], error });

/**
 * The parameters in the order of the table of §4.1, which is the order in which they are checked. The `error` of each says
 * what it accepts, to complete the sentence "The parameter … takes …".
 */
export const LeadParameters = Type.Partial(
  Type.Object({
    limit: Type.Integer({
      minimum: pageSize.min,
      maximum: pageSize.max,
      default: pageSize.default,
      description: "Results per page.",
      examples: [100],
      error: `a whole number from ${pageSize.min} to ${pageSize.max}`,
    }),
    before: timestamp(
      "Pagination cursor: only leads identified strictly before this time.",
      `the next_cursor of a page or ${dateTime}`,
    ),
    since: timestamp("Only leads identified at or after this time."),
    pixel_id: Type.String({
      minLength: 1,
      description: "Restrict to one pixel. It must belong to the account.",
      examples: ["px_shop"],
      error: `the ID of a pixel that GET ${paths.pixels} lists`,
    }),
    state: Type.String({
      pattern: "^[A-Za-z]{2}$",
      description: "Two-letter US state code.",
      examples: ["CA"],
      error: "two letters, such as CA",
    }),
    city: Type.Unsafe<string>({
      [Kind]: "City",
      type: "string",
      minLength: 1,
      maxLength: maxCityLength,
      description: "City name; case-insensitive exact match.",
      examples: ["San Diego"],
      error: `a name of 1 to ${maxCityLength} characters`,
    }),
    // Elysia reads a Type.Boolean with a transform, which would cost every request a second validation.
    has_email: Type.Union([Type.Literal(true), Type.Literal(false)], {
      description: "When true, only leads that have an email address are returned; false filters nothing.",
      error: "true or false",
    }),
  }),
);
type LeadParameters = Static<typeof LeadParameters>;
export type LeadParameter = keyof LeadParameters;

/** The parameters that filter by a field of the lead. The others choose a position in the list. */
export type LeadFilter = Exclude<LeadParameter, "limit" | "before" | "since">;

/**
 * The value of each filter, as the database compares it; undefined does not filter. Code that handles filters uses a record
 * over LeadFilter, so that a missing filter is a type error.
 */
export type LeadFilters = { readonly [Name in LeadFilter]: LeadParameters[Name] | undefined };

export interface LeadQuery {
  readonly limit: number;
  /** Only leads strictly before this time, in Unix milliseconds. */
  readonly beforeMs: number | null;
  /** Only leads at or after this time, in Unix milliseconds. */
  readonly sinceMs: number | null;
  readonly filters: LeadFilters;
}

/** Returns the query of validated parameters. Stored times are whole milliseconds, so a bound between two is rounded up. */
export function toLeadQuery({ limit, before, since, pixel_id, state, city, has_email }: LeadParameters): LeadQuery {
  return {
    limit: limit ?? pageSize.default,
    beforeMs: before === undefined ? null : parseTime(before, "up"),
    sinceMs: since === undefined ? null : parseTime(since, "up"),
    filters: {
      pixel_id,
      state: state?.toUpperCase(),
      city: city === undefined ? undefined : cityKey(city),
      // False filters nothing.
      has_email: has_email || undefined,
    },
  };
}
