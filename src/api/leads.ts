/** GET /api/v1/leads (§4.1): one page of the account's leads, newest first. */
import { Elysia } from "elysia";
import { ErrorResponse, errorResponses, plainError } from "../contract/errors.ts";
import { LeadList } from "../contract/lead.ts";
import { namesOf } from "../contract/names.ts";
import { LeadParameters, type LeadQuery, toLeadQuery } from "../contract/parameters.ts";
import { paths } from "../contract/paths.ts";
import { formatTime } from "../contract/time.ts";
import type { AccountNumber } from "../db/accounts.ts";
import { type DisclosedPage, writeFilter } from "../privacy/disclosures/pending-pages.ts";
import type { RequestStore } from "../served-store.ts";
import { calls } from "./call.ts";
import { strictQuery } from "./query.ts";

export function leadRoute(store: RequestStore) {
  const pages = createPageCache();

  return new Elysia().use(calls).get(
    paths.leads,
    ({ call, key, query }) => {
      const cacheKey = `${key.account} ${call.search}`;
      let page = pages.get(cacheKey, call.databaseVersion);
      if (page === null) {
        page = readPage(store, key.account, toLeadQuery(query));
        // A page with a cursor is seldom asked for twice.
        if (query.before === undefined) pages.keep(cacheKey, page);
      }
      if (page.disclosed !== null) store.disclosures.note(key.number, page.disclosed, call.arrivedMs);
      return call.reply({ status: 200, body: page.body });
    },
    {
      transform: strictQuery(...namesOf(LeadParameters.properties)),
      query: LeadParameters,
      response: { 200: LeadList, ...errorResponses, 404: ErrorResponse },
      detail: {
        operationId: "listLeads",
        tags: ["Leads"],
        summary: "List leads, newest first",
        description:
          "Returns the identified visitors across all pixels of the account, ordered by `identified_at` descending. A " +
          "`before` at or below `since`, and a state or city that matches nothing, give an empty page and no error.",
      },
    },
  );
}

function readPage({ pixels, leads }: RequestStore, account: AccountNumber, query: LeadQuery): Page {
  if (query.pixel_id !== null && !pixels.has(account, query.pixel_id)) throw plainError("unknown_pixel");
  const { documents, nextMs, span } = leads.page(account, query);
  const disclosed = span === null ? null : { filter: writeFilter(query), ...span, beforeMs: query.beforeMs };
  return { body: writeEnvelope(documents, nextMs), disclosed };
}

const beginning = Buffer.from(`{"object":"list","data":[`);
const comma = Buffer.from(",");

/** Joins stored documents into the list (§2.1). No lead is parsed, rebuilt, or even decoded. */
function writeEnvelope(documents: readonly Uint8Array[], nextMs: number | null): Uint8Array {
  const parts: Uint8Array[] = [beginning];
  for (const document of documents) {
    if (parts.length > 1) parts.push(comma);
    parts.push(document);
  }
  const cursor = nextMs === null ? "null" : `"${formatTime(nextMs)}"`;
  parts.push(Buffer.from(`],"has_more":${nextMs !== null},"next_cursor":${cursor}}`));
  return Buffer.concat(parts);
}

interface Page {
  readonly body: Uint8Array;
  /** The entry for the ledger; null for a page without leads. */
  readonly disclosed: DisclosedPage | null;
}

/** The maximum size of the cache. A page of 25 leads has about 15,000 bytes. */
const maxCacheBytes = 20 * 1024 * 1024;

/** The memory of an entry in addition to its body and its key. */
const overheadBytes = 250;

/**
 * The maximum length of a cache key. Clients choose the query string in it, so long ones could fill the memory. A query
 * with all filters is shorter.
 */
const maxCacheKeyLength = 500;

/** Creates the page cache. A write to the database invalidates all entries. */
export function createPageCache() {
  const pages = new Map<string, Page>();
  let bytes = 0;
  let knownVersion = Number.NaN;

  function clear(): void {
    pages.clear();
    bytes = 0;
  }

  return {
    /** Returns the page of a key; null if there is none, or the database has changed since. */
    get(cacheKey: string, databaseVersion: number): Page | null {
      if (databaseVersion !== knownVersion) clear();
      knownVersion = databaseVersion;
      return pages.get(cacheKey) ?? null;
    },
    /** Stores a page that was just read. Must be called after get, in the same tick. */
    keep(cacheKey: string, page: Page): void {
      if (cacheKey.length > maxCacheKeyLength) return;
      const added = page.body.byteLength + cacheKey.length + overheadBytes;
      // Clears the whole cache: popular pages are soon cached again.
      if (bytes + added > maxCacheBytes) clear();
      pages.set(cacheKey, page);
      bytes += added;
    },
  };
}
