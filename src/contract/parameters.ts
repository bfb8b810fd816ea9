/** The query parameters of GET /leads (§4.1): what each accepts, and the query that they make. */
import { FormatRegistry, Type } from "@sinclair/typebox";
import { pageSize } from "./limits.ts";
import { paths } from "./paths.ts";
import { defineParameter, readParameter, readQuery } from "./query.ts";
import { cityKey } from "./stored-lead.ts";
import { readMoment, rfc3339 } from "./time.ts";

/** The parameters of a request, once they are read; null filters nothing. */
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

// TypeBox checks a moment by its pattern alone. Which days a month has, and which years are kept, is checked where it is read.
FormatRegistry.Set("date-time", () => true);

const moments = "an RFC 3339 date-time with an offset, such as 2026-01-31T09:15:00Z (a + in the offset is sent as %2B)";

/** Bounds round up past the millisecond, so that "at or after" and "strictly before" stay true of stored leads. */
const defineMoment = (description: string, accepts: string) =>
  defineParameter(
    Type.String({
      format: "date-time",
      pattern: rfc3339.source,
      description,
      examples: ["2026-01-31T09:15:00.123Z"],
    }),
    accepts,
    (text) => readMoment(text, "up"),
  );

/** One character, for a pattern without the flag `u`: an emoji is a pair of halves, and half of one is no character. */
const pair = "[\\uD800-\\uDBFF][\\uDC00-\\uDFFF]";
const character = `(?:${pair}|[^\\u0000\\uD800-\\uDFFF])`;
const visibleCharacter = `(?:${pair}|[^\\s\\u0000\\uD800-\\uDFFF])`;
const longestCity = 200;

/** In the order of the table of §4.1, which is the order in which they are checked. */
export const leadParameters = {
  limit: defineParameter(
    Type.Integer({
      minimum: pageSize.least,
      maximum: pageSize.most,
      default: pageSize.usual,
      description: "Results per page.",
      examples: [100],
    }),
    `a whole number from ${pageSize.least} to ${pageSize.most}`,
    (limit) => limit,
  ),
  before: defineMoment(
    "Pagination cursor: only leads identified strictly before this time.",
    `the next_cursor of a page or ${moments}`,
  ),
  since: defineMoment("Only leads identified at or after this time.", moments),
  pixel_id: defineParameter(
    Type.String({
      pattern: "^[^\\u0000]+$",
      description: "Restrict to one pixel. It must belong to the account.",
      examples: ["px_shop"],
    }),
    `the id of a pixel that GET ${paths.pixels} lists`,
    (pixelId) => pixelId,
  ),
  state: defineParameter(
    Type.String({ pattern: "^[A-Za-z]{2}$", description: "Two-letter US state code.", examples: ["CA"] }),
    "two letters, such as CA",
    (state) => state.toUpperCase(),
  ),
  city: defineParameter(
    Type.String({
      pattern: `^\\s*${visibleCharacter}(?:${character}{0,${longestCity - 2}}${visibleCharacter})?\\s*$`,
      description: "City name; case-insensitive exact match.",
      examples: ["San Diego"],
    }),
    `a name of 1 to ${longestCity} characters`,
    cityKey,
  ),
  has_email: defineParameter(
    Type.Boolean({
      description: "When true, only leads that have an email address are returned; false filters nothing.",
    }),
    "true or false",
    (hasEmail) => hasEmail,
  ),
} as const;

const leadParameterNames = Object.keys(leadParameters);

/** Reads the query string of GET /leads; throws the 400 of the first parameter that is wrong. */
export function readLeadQuery(search: string): LeadQuery {
  const sent = readQuery(search, leadParameterNames);
  const { limit, before, since, pixel_id, state, city, has_email } = leadParameters;
  return {
    limit: readParameter(sent, "limit", limit) ?? pageSize.usual,
    beforeMs: readParameter(sent, "before", before),
    sinceMs: readParameter(sent, "since", since),
    pixelId: readParameter(sent, "pixel_id", pixel_id),
    state: readParameter(sent, "state", state),
    city: readParameter(sent, "city", city),
    hasEmail: readParameter(sent, "has_email", has_email) ?? false,
  };
}

/** Refuses any parameter, for the endpoints that take none (§4.2, §4.3). */
export function readNoQuery(search: string): void {
  readQuery(search, []);
}
