/**
 * The filters of GET /leads (§4.1). Each is one entry: what it accepts, how its text is read, what the database compares, and
 * its index. Everything else is derived: the parameter and its description, the SQL, and the indexes in db/schema.ts.
 */
import { Kind, type Static, type TSchema, Type, TypeRegistry } from "@sinclair/typebox";
import { namesOf } from "./names.ts";
import { paths } from "./paths.ts";
import { cityKey } from "./stored-lead.ts";

interface Filter<Schema extends TSchema> {
  /** The accepted values. Its `error` completes the sentence "The parameter … takes …". */
  readonly schema: Schema;
  /** Reads the text of the query. An invalid text is kept unchanged, and fails the schema. */
  readonly decode: (text: string) => unknown;
  /** Returns the value as the database compares it; undefined filters nothing. */
  readonly toKey: (value: Static<Schema>) => string | number | undefined;
  /** A column of stored_leads, or an expression of SQL over its columns. */
  readonly column: string;
  /** The SQL that the column must equal: `:key` is the value, `:account` the number of the account. */
  readonly equals: string;
  /**
   * `combined`: one index for each combination with other filters of this kind. `own`: an index that is used unless a
   * combined filter is given as well. `everywhere`: a column of every index, with the value 1 or 0.
   */
  readonly index: "combined" | "own" | "everywhere";
}

const filter = <Schema extends TSchema>(entry: Filter<Schema>): Filter<Schema> => entry;

const asText = (text: string): string => text;

/** The parts of a filter that is `true` or `false`, where false filters nothing. */
const onlyIfTrue = (description: string) => ({
  // Elysia reads a Type.Boolean with a transform, which would cost every request a second validation.
  schema: Type.Union([Type.Literal(true), Type.Literal(false)], {
    description: `${description}; false filters nothing.`,
    error: "true or false",
  }),
  decode: (text: string) => (text === "true" || text === "false" ? text === "true" : text),
  toKey: (isWanted: boolean) => (isWanted ? 1 : undefined),
  equals: "1",
});

const maxCityLength = 200;

// JSON Schema counts characters. TypeBox counts the halves of one that is outside the first 65,536, such as an emoji.
TypeRegistry.Set("City", (_, value) => {
  const characters = typeof value === "string" ? [...value.trim()].length : 0;
  return characters > 0 && characters <= maxCityLength;
});

/** The filters in the order of the table of §4.1. */
export const filters = {
  pixel_id: filter({
    schema: Type.String({
      minLength: 1,
      description: "Restrict to one pixel. It must belong to the account.",
      examples: ["px_shop"],
      error: `the ID of a pixel that GET ${paths.pixels} lists`,
    }),
    decode: asText,
    toKey: (id) => id,
    column: "pixel",
    equals: "(SELECT number FROM pixels WHERE account = :account AND id = :key)",
    index: "combined",
  }),
  state: filter({
    schema: Type.String({
      pattern: "^[A-Za-z]{2}$",
      description: "Two-letter US state code.",
      examples: ["CA"],
      error: "two letters, such as CA",
    }),
    decode: asText,
    toKey: (state) => state.toUpperCase(),
    column: "state",
    equals: ":key",
    index: "combined",
  }),
  city: filter({
    schema: Type.Unsafe<string>({
      [Kind]: "City",
      type: "string",
      minLength: 1,
      maxLength: maxCityLength,
      description: "City name; case-insensitive exact match.",
      examples: ["San Diego"],
      error: `a name of 1 to ${maxCityLength} characters`,
    }),
    decode: asText,
    toKey: cityKey,
    column: "city_key",
    equals: ":key",
    index: "combined",
  }),
  has_email: filter({
    ...onlyIfTrue("When true, only leads that have an email address are returned"),
    column: "has_email",
    index: "everywhere",
  }),
};

export type LeadFilter = keyof typeof filters;
export type FilterSchemas = { readonly [Name in LeadFilter]: (typeof filters)[Name]["schema"] };

export const filterNames = namesOf(filters);

const named = (names: readonly LeadFilter[]) => names.map((name) => name.replace(/_id$/, "")).join("_");
const withIndex = (names: readonly LeadFilter[], kind: Filter<TSchema>["index"]) =>
  names.filter((name) => filters[name].index === kind);

/** Returns the name of the index for a combination of filters, in their order. */
export function indexOf(used: readonly LeadFilter[]): string {
  const combined = withIndex(used, "combined");
  const [own] = withIndex(used, "own");
  if (combined.length > 0) return `leads_by_${named(combined)}`;
  if (own !== undefined) return `leads_by_${own}`;
  return used.length > 0 ? "leads_by_email" : "leads_by_time";
}

/** Every index that the filters need: its name, and the filters whose columns it has. */
export const filterIndexes: readonly (readonly [name: string, filters: readonly LeadFilter[]])[] = [
  ["leads_by_email", []],
  ...combinationsOf(withIndex(filterNames, "combined")).map((some) => [indexOf(some), some] as const),
  ...withIndex(filterNames, "own").map((own) => [indexOf([own]), [own]] as const),
];

/** Returns all combinations of at least one name, the shortest first. */
function combinationsOf(names: readonly LeadFilter[]): LeadFilter[][] {
  const all = Array.from({ length: 2 ** names.length }, (_, bits) => names.filter((_, index) => (bits >> index) & 1));
  return all.slice(1).toSorted((one, other) => one.length - other.length);
}
