/** Pages of leads, and all leads across pages. */
import type { Get } from "./connection.ts";
import type { Lead, LeadList, LeadQuery } from "./contract.ts";
import { SettingError } from "./errors.ts";

/** The options of every call. */
export interface CallOptions {
  readonly signal?: AbortSignal | undefined;
}

/** The filters, without the parameters of paging. */
export type LeadFilter = Omit<LeadQuery, "limit" | "before" | "since">;

export type AllOptions = Omit<LeadQuery, "limit"> & CallOptions & { readonly pageSize?: number | undefined };

/** A page, with what its response says about the request. */
export interface LeadPage extends LeadList {
  /** The ID under which the owner of the server finds the request in the log. */
  readonly requestId: string | null;
  /** The limit per minute; null if a proxy removed its headers. */
  readonly rateLimit: RateLimit | null;
}

export interface RateLimit {
  /** Requests per minute. */
  readonly limit: number;
  /** Requests left in this minute. */
  readonly remaining: number;
  /** The end of this minute. */
  readonly resetsAt: Date;
}

/** Requests one page, newest first (§4.1). */
export type List = (query?: LeadQuery & CallOptions) => Promise<LeadPage>;

/** The maximum page size (§8). */
export const fullPage = 100;

/** Makes the function that requests one page. It rejects a page whose cursor does not move. */
export function createList(get: Get): List {
  return async (query = {}) => {
    // A cursor that does not move would be requested again and again.
    const isNext = (page: LeadList) => isPage(page) && !(page.has_more && page.next_cursor === query.before);
    const { body, headers } = await get<LeadList>("/api/v1/leads", "list", query, isNext);
    return { ...body, requestId: headers.get("x-request-id"), rateLimit: rateLimitIn(headers) };
  };
}

function rateLimitIn(headers: Headers): RateLimit | null {
  const [limit, remaining, reset] = ["limit", "remaining", "reset"].map((name) => headers.get(`x-ratelimit-${name}`));
  if (!limit || !remaining || !reset) return null;
  return { limit: Number(limit), remaining: Number(remaining), resetsAt: new Date(Number(reset) * 1000) };
}

/** Yields every lead, newest first. Requests a page when its leads are needed. */
export async function* allLeads(
  list: List,
  { pageSize = fullPage, ...query }: AllOptions,
): AsyncGenerator<Lead, void, undefined> {
  if ("limit" in query) throw new SettingError("The setting limit is unknown. Set pageSize.");
  for (let before = query.before; ; ) {
    const page = await list({ ...query, before, limit: pageSize });
    yield* page.data;
    if (!page.has_more || page.next_cursor === null) return;
    before = page.next_cursor;
  }
}

/** Checks what paging relies on: a page with has_more has leads and a cursor. */
function isPage({ data, has_more, next_cursor }: LeadList): boolean {
  const isPlaced = (lead: Partial<Lead> | null) => typeof lead?.id === "string" && isTimestamp(lead.identified_at);
  if (!Array.isArray(data) || !data.every(isPlaced)) return false;
  return has_more === true ? data.length > 0 && isTimestamp(next_cursor) : has_more === false;
}

function isTimestamp(text: string | null | undefined): boolean {
  return typeof text === "string" && !Number.isNaN(Date.parse(text));
}
