/** The query parameters of GET /leads (§4.1): what each accepts, and the query that they make. */
import { FormatRegistry, type Static, Type } from "@sinclair/typebox";
import { type FilterSchemas, filterNames, filters, type LeadFilter } from "./filters.ts";
import { pageSize } from "./limits.ts";
import { parseTime } from "./time.ts";

// The format alone would accept any date, such as February 30.
FormatRegistry.Set("date-time", (text) => parseTime(text, "up") !== null);

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
    // Object.fromEntries forgets the names.
    ...(Object.fromEntries(filterNames.map((name) => [name, filters[name].schema])) as FilterSchemas),
  }),
);
type LeadParameters = Static<typeof LeadParameters>;
export type LeadParameter = keyof LeadParameters;
type Decode = (text: string) => unknown;

/** Reads the text of each parameter. An invalid text is kept unchanged, and fails the schema. */
export const decoders: Readonly<Record<LeadParameter, Decode>> = {
  // "05", "5.0" and "0x5" are other ways to write a number. Only the canonical one is accepted.
  limit: (text) => (String(Number(text)) === text ? Number(text) : text),
  before: withPlus,
  since: withPlus,
  // Object.fromEntries forgets the names.
  ...(Object.fromEntries(filterNames.map((name) => [name, filters[name].decode])) as Record<LeadFilter, Decode>),
};

/** A + that was not encoded has become a space. */
function withPlus(text: string): string {
  return text.replace(/ (\d{2}:?\d{2})$/, "+$1");
}

export interface LeadQuery {
  readonly limit: number;
  /** Only leads strictly before this time, in Unix milliseconds. */
  readonly beforeMs: number | null;
  /** Only leads at or after this time, in Unix milliseconds. */
  readonly sinceMs: number | null;
  /** The key of each filter, as the database compares it; undefined does not filter. */
  readonly filters: Readonly<Partial<Record<LeadFilter, string | number | undefined>>>;
}

/** Returns the query of validated parameters. Stored times are whole milliseconds, so a bound between two is rounded up. */
export function toLeadQuery({ limit, before, since, ...values }: LeadParameters): LeadQuery {
  const keys = filterNames.map((name) => {
    const toKey = filters[name].toKey as (value: unknown) => string | number | undefined; // Its schema accepted the value.
    return [name, values[name] === undefined ? undefined : toKey(values[name])];
  });
  return {
    limit: limit ?? pageSize.default,
    beforeMs: before === undefined ? null : parseTime(before, "up"),
    sinceMs: since === undefined ? null : parseTime(since, "up"),
    filters: Object.fromEntries(keys),
  };
}
