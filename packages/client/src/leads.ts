/** Pages of leads, and all leads across pages. */
import type { Get } from "./connection.ts";
import type { Lead, LeadList, LeadQuery } from "./contract.ts";

/** What can be asked of every call. */
export interface CallOptions {
  readonly signal?: AbortSignal | undefined;
}

/** What leads are chosen by, whatever the page. */
export type LeadFilter = Omit<LeadQuery, "limit" | "before" | "since">;

export type AllOptions = Omit<LeadQuery, "limit"> & CallOptions & { readonly pageSize?: number | undefined };

/** Gets one page. */
export type List = (query: LeadQuery, signal: AbortSignal | undefined) => Promise<LeadList>;

/** The most that a page may have (§8). */
export const fullPage = 100;

export function createList(get: Get): List {
  return (query, signal) => {
    // A cursor that stands still would be asked for again and again.
    const isNext = (body: unknown): body is LeadList =>
      isLeadList(body) && !(body.has_more && body.next_cursor === query.before);
    return get("/api/v1/leads", isNext, query, signal);
  };
}

/** Every lead, newest first, page by page as they are wanted. */
export async function* allLeads(
  list: List,
  { signal, pageSize = fullPage, ...query }: AllOptions,
): AsyncGenerator<Lead, void, undefined> {
  for (let before = query.before; ; ) {
    const page = await list({ ...query, before, limit: pageSize }, signal);
    yield* page.data;
    if (!page.has_more || page.next_cursor === null) return;
    before = page.next_cursor;
  }
}

/** What paging relies on: a page that says that there are more has leads, and a cursor to go on with. */
function isLeadList(body: unknown): body is LeadList {
  const { object, data, has_more, next_cursor } = body as Partial<LeadList>;
  if (object !== "list" || !Array.isArray(data) || !data.every(isPlaced)) return false;
  return has_more === true ? data.length > 0 && isMoment(next_cursor) : has_more === false;
}

function isPlaced(lead: Partial<Lead> | null): boolean {
  return typeof lead?.id === "string" && isMoment(lead.identified_at);
}

function isMoment(text: string | null | undefined): boolean {
  return typeof text === "string" && !Number.isNaN(Date.parse(text));
}
