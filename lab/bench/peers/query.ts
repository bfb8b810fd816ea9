/** The page of leads for every peer: the parameters, the statement, and the envelope. */
import { leadFields } from "../../../packages/conformance/src/specification.ts";
import { ApiError } from "./contract.ts";

export type LeadRow = Record<(typeof leadFields)[number], string>;

const rfc3339 = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.(\d+))?(?:Z|[+-]\d{2}:\d{2})$/i;

/** Returns a bound in the form of stored times, rounded up to a millisecond; null for any other text. */
export function readMoment(text: string): string | null {
  const match = rfc3339.exec(text);
  const ms = match === null ? Number.NaN : Date.parse(text.toUpperCase());
  if (Number.isNaN(ms)) return null;
  // Date.parse takes the 30th of February for the 2nd of March.
  if (new Date(`${text.slice(0, 10)}T00:00:00Z`).toISOString().slice(0, 10) !== text.slice(0, 10)) return null;
  return new Date(/[1-9]/.test(match?.[1]?.slice(3) ?? "") ? ms + 1 : ms).toISOString();
}

export const patterns = { limit: "^([1-9][0-9]?|100)$", state: "^[A-Za-z]{2}$", hasEmail: "^(true|false)$" } as const;

/** The parameters as their texts, after a check of their form. */
export type RawQuery = Partial<
  Record<"limit" | "before" | "since" | "pixel_id" | "state" | "city" | "has_email", string>
>;

export interface LeadQuery {
  readonly limit: number;
  readonly before: string | null;
  readonly since: string | null;
  readonly pixel: string | null;
  readonly state: string | null;
  readonly city: string | null;
  readonly hasEmail: boolean;
}

/** Values that a pattern cannot check are checked here. */
export function toLeadQuery(raw: RawQuery): LeadQuery {
  const city = raw.city?.trim().normalize("NFC").toLowerCase();
  if (city !== undefined && (city === "" || city.length > 200)) throw invalid("city");
  return {
    limit: Number(raw.limit ?? 25),
    before: raw.before === undefined ? null : (readMoment(raw.before) ?? raise(invalid("before"))),
    since: raw.since === undefined ? null : (readMoment(raw.since) ?? raise(invalid("since"))),
    pixel: raw.pixel_id ?? null,
    state: raw.state?.toUpperCase() ?? null,
    city: city ?? null,
    hasEmail: raw.has_email === "true",
  };
}

export function invalid(parameter: string): ApiError {
  const code = parameter === "before" ? "invalid_cursor" : "invalid_parameter";
  return new ApiError(code, `The parameter ${parameter} is unknown, repeated or malformed.`);
}

function raise(error: Error): never {
  throw error;
}

/** The statement of one combination of filters and its values, in order. Prepared once for each. */
export function pageStatement(account: number, query: LeadQuery): { text: string; values: (string | number)[] } {
  const conditions = ["account = ?"];
  const values: (string | number)[] = [account];
  const add = (condition: string, value: string | null) => {
    if (value === null) return;
    conditions.push(condition);
    values.push(value);
  };
  add("identified_at < ?", query.before);
  add("identified_at >= ?", query.since);
  add("pixel_id = ?", query.pixel);
  add("state = ?", query.state);
  add("city_key = ?", query.city);
  if (query.hasEmail) conditions.push("email IS NOT NULL");
  values.push(query.limit + 1);
  const where = conditions.join(" AND ");
  return {
    text: `SELECT ${leadFields.join(", ")} FROM leads WHERE ${where} ORDER BY identified_at DESC LIMIT ?`,
    values,
  };
}

/** The envelope around rows of which there may be one too many. */
export function toList<Row extends { readonly identified_at: string | null }>(rows: Row[], limit: number) {
  const hasMore = rows.length > limit;
  if (hasMore) rows.pop();
  return {
    object: "list" as const,
    data: rows,
    has_more: hasMore,
    next_cursor: hasMore ? (rows.at(-1)?.identified_at ?? null) : null,
  };
}
