/** GET /api/v1/leads (§4.1): one page of the account's leads, newest first. */
import { plainError } from "../contract/errors.ts";
import { writeLeadList } from "../contract/list.ts";
import { readLeadQuery } from "../contract/parameters.ts";
import { writeMoment } from "../contract/time.ts";
import type { AccountNumber, ReadStore } from "../store/reading.ts";
import { createResponseCache } from "./response-cache.ts";

/** The body of a page. Throws invalid_parameter, invalid_cursor or unknown_pixel. */
export type LeadsAnswer = (account: AccountNumber, search: string) => Blob | Uint8Array;

export function createLeadsAnswer(store: ReadStore): LeadsAnswer {
  const cache = createResponseCache();
  return (account, search) => {
    const question = `${account} ${search}`;
    const kept = cache.get(question, store.version());
    if (kept !== null) return kept;
    const page = writePage(store, account, search);
    cache.offer(question, page);
    return page;
  };
}

function writePage(store: ReadStore, account: AccountNumber, search: string): Uint8Array {
  const query = readLeadQuery(search);
  if (query.pixelId !== null && !store.pixels.has(account, query.pixelId)) throw plainError("unknown_pixel");
  const { documents, nextMs } = store.leads.page(account, query);
  return writeLeadList(documents, nextMs === null ? null : writeMoment(nextMs));
}
