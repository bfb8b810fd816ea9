/** GET /api/v1/leads (§4.1): one page of the account's leads, newest first. */
import { plainError } from "../contract/errors.ts";
import type { LeadQuery } from "../contract/parameters.ts";
import { readLeadQuery } from "../contract/query.ts";
import { writeMoment } from "../contract/time.ts";
import { writeFilter } from "../store/disclosed-pages.ts";
import type { DisclosedPage } from "../store/disclosures.ts";
import type { AccountNumber } from "../store/reading.ts";
import type { RequestStore } from "../store/serving.ts";
import { createCache } from "./cache.ts";
import { keyOf, type RequestContext } from "./context.ts";

interface Page {
  readonly body: Uint8Array;
  /** What the ledger notes of it; null for a page without leads. */
  readonly disclosed: DisclosedPage | null;
}

/** At most this many bytes of pages are kept in memory. A page of 25 leads has about 15,000. */
const mostBytes = 20 * 1024 * 1024;

/** What an entry takes beside its body and its question: most of an empty page. */
const overheadBytes = 250;

/** Makes what keeps pages in memory, by the questions that they answer. */
export const createPageCache = () =>
  createCache<Page>(mostBytes, ({ body }, question) => body.byteLength + question.length + overheadBytes);

/** Makes what gives the body of a page, and throws invalid_parameter, invalid_cursor or unknown_pixel. */
export function createLeadsAnswer(store: RequestStore) {
  const pages = createPageCache();

  function makePage(question: string, account: AccountNumber, search: string): Page {
    const query = readLeadQuery(search);
    const page = readPage(store, account, query);
    // A page with a cursor is seldom asked for twice.
    if (query.beforeMs === null) pages.keep(question, page);
    return page;
  }

  return (context: RequestContext): Uint8Array => {
    const { storeVersion, search } = context;
    const { account, number } = keyOf(context);
    const question = `${account} ${search}`;
    const { body, disclosed } = pages.get(question, storeVersion) ?? makePage(question, account, search);
    if (disclosed !== null) store.disclosures.note(number, disclosed, context.arrivedMs);
    return body;
  };
}

function readPage({ pixels, leads }: RequestStore, account: AccountNumber, query: LeadQuery): Page {
  if (query.pixelId !== null && !pixels.has(account, query.pixelId)) throw plainError("unknown_pixel");
  const { documents, nextMs, span } = leads.page(account, query);
  const disclosed = span === null ? null : { filter: writeFilter(query), ...span, beforeMs: query.beforeMs };
  return { body: writeEnvelope(documents, nextMs), disclosed };
}

const beginning = Buffer.from(`{"object":"list","data":[`);
const comma = Buffer.from(",");

/** Joins stored documents into the envelope (§2.1): no lead is parsed, rebuilt or even decoded. */
function writeEnvelope(documents: readonly Uint8Array[], nextMs: number | null): Uint8Array {
  const parts: Uint8Array[] = [beginning];
  for (const document of documents) {
    if (parts.length > 1) parts.push(comma);
    parts.push(document);
  }
  const cursor = nextMs === null ? "null" : `"${writeMoment(nextMs)}"`;
  parts.push(Buffer.from(`],"has_more":${nextMs !== null},"next_cursor":${cursor}}`));
  return Buffer.concat(parts);
}
