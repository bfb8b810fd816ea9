/** GET /api/v1/leads (§4.1): one page of the account's leads, newest first. */
import { plainError } from "../contract/errors.ts";
import { writeLeadList } from "../contract/list.ts";
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
  return (context) => {
    const { account, number } = keyOf(context);
    const question = `${account} ${context.search}`;
    const kept = cache.get(question, store.version());
    const { body, about: page } = kept ?? writePage(store, account, context.search);
    if (kept === null && body instanceof Uint8Array) cache.offer(question, body, page);
    if (page !== null) store.disclosures.note(number, page, context.arrivedMs);
    return body;
  };
}

/** A page, and what the ledger notes of it; nothing of one that is empty. */
function writePage(store: RequestStore, account: AccountNumber, search: string) {
  const query = readLeadQuery(search);
  if (query.pixelId !== null && !store.pixels.has(account, query.pixelId)) throw plainError("unknown_pixel");
  const { documents, nextMs, span } = store.leads.page(account, query);
  const body = writeLeadList(documents, nextMs === null ? null : writeMoment(nextMs));
  const about = span === null ? null : { filter: writeFilter(query), ...span, beforeMs: query.beforeMs };
  return { body, about };
}
