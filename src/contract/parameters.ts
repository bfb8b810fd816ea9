/** The query parameters of GET /leads (§4.1): what each accepts, and the query that they make (query.ts reads it). */
import { type TSchema, Type } from "@sinclair/typebox";
import { type TypeCheck, TypeCompiler } from "@sinclair/typebox/compiler";
import { pageSize } from "./limits.ts";
import { paths } from "./paths.ts";
import { rfc3339 } from "./time.ts";

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

/** One parameter: what it accepts, by its schema and in words. */
export interface Parameter<Schema extends TSchema> {
  readonly schema: Schema;
  /** The schema, compiled once. */
  readonly check: TypeCheck<Schema>;
  /** Completes the sentence "it takes …" of a refusal. */
  readonly accepts: string;
}

function defineParameter<Schema extends TSchema>(schema: Schema, accepts: string): Parameter<Schema> {
  return { schema, check: TypeCompiler.Compile(schema), accepts };
}

const moments = "an RFC 3339 date-time with an offset, such as 2026-01-31T09:15:00Z (a + in the offset is sent as %2B)";

const defineMoment = (description: string, accepts: string) =>
  defineParameter(
    Type.String({
      format: "date-time",
      pattern: rfc3339.source,
      description,
      examples: ["2026-01-31T09:15:00.123Z"],
    }),
    accepts,
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
  ),
  state: defineParameter(
    Type.String({ pattern: "^[A-Za-z]{2}$", description: "Two-letter US state code.", examples: ["CA"] }),
    "two letters, such as CA",
  ),
  city: defineParameter(
    Type.String({
      pattern: `^\\s*${visibleCharacter}(?:${character}{0,${longestCity - 2}}${visibleCharacter})?\\s*$`,
      description: "City name; case-insensitive exact match.",
      examples: ["San Diego"],
    }),
    `a name of 1 to ${longestCity} characters`,
  ),
  has_email: defineParameter(
    Type.Boolean({
      description: "When true, only leads that have an email address are returned; false filters nothing.",
    }),
    "true or false",
  ),
} as const;
