/** GET /api/v1/leads (§4.1): one page of the account's leads, newest first. */
import { plainError } from "../contract/errors.ts";
import type { LeadQuery } from "../contract/lead-query.ts";
import { readLeadQuery } from "../contract/parameters.ts";
import { writeMoment } from "../contract/time.ts";
import { writeFilter } from "../store/disclosed-filter.ts";
import type { DisclosedPage } from "../store/disclosures.ts";
import type { AccountNumber } from "../store/reading.ts";
import type { RequestStore } from "../store/serving.ts";
import { keyOf, type RequestContext } from "./context.ts";
import { createResponseCache } from "./response-cache.ts";

/** The body of a page. Throws invalid_parameter, invalid_cursor or unknown_pixel. */
export type LeadsAnswer = (context: RequestContext) => Blob | Uint8Array;

export function createLeadsAnswer(store: RequestStore): LeadsAnswer {
  const cache = createResponseCache<DisclosedPage | null>();

  function makePage(question: string, account: AccountNumber, search: string) {
    const query = readLeadQuery(search);
    const { body, about } = writePage(store, account, query);
    // A page behind a cursor is seldom asked for twice.
    if (query.beforeMs === null) cache.keep(question, body, about);
    return { body, about };
  }

  return (context) => {
    const { account, number } = keyOf(context);
    const question = `${account} ${context.search}`;
    const { body, about } = cache.get(question, store.version()) ?? makePage(question, account, context.search);
    if (about !== null) store.disclosures.note(number, about, context.arrivedMs);
    return body;
  };
}

/** A page, and what the ledger notes of it; nothing of one that is empty. */
function writePage({ pixels, leads }: RequestStore, account: AccountNumber, query: LeadQuery) {
  if (query.pixelId !== null && !pixels.has(account, query.pixelId)) throw plainError("unknown_pixel");
  const { documents, nextMs, span } = leads.page(account, query);
  const about = span === null ? null : { filter: writeFilter(query), ...span, beforeMs: query.beforeMs };
  return { body: writeEnvelope(documents, nextMs), about };
}

const head = Buffer.from(`{"object":"list","data":[`);
const comma = Buffer.from(",");

/** Joins stored documents into the envelope (§2.1): no lead is parsed, rebuilt or even decoded. */
function writeEnvelope(documents: readonly Uint8Array[], nextMs: number | null): Uint8Array {
  const more = nextMs === null ? `false,"next_cursor":null` : `true,"next_cursor":"${writeMoment(nextMs)}"`;
  const parts: Uint8Array[] = [head];
  for (const document of documents) parts.push(document, comma);
  if (documents.length > 0) parts.pop();
  parts.push(Buffer.from(`],"has_more":${more}}`));
  return Buffer.concat(parts);
}
