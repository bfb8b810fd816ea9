/** GET /api/v1/leads (§4.1): one page of the account's leads, newest first. */
import { ApiError } from "../contract/errors.ts";
import { writeLeadList } from "../contract/list.ts";
import { readLeadQuery } from "../contract/parameters.ts";
import { writeMoment } from "../contract/time.ts";
import type { AccountNumber, LeadPage, ReadStore } from "../store.ts";

/** Bodies that were made, each for as long as its page is remembered. */
const bodies = new WeakMap<LeadPage, Blob>();

/** The body of the page. Throws invalid_parameter, invalid_cursor or unknown_pixel. */
export function answerLeads(store: ReadStore, account: AccountNumber, search: string): Blob {
  const query = readLeadQuery(search);
  if (query.pixelId !== null && !store.pixels.has(account, query.pixelId)) {
    throw new ApiError("unknown_pixel", "The account has no pixel with this pixel_id; GET /api/v1/pixels lists them.");
  }
  const page = store.leads.page(account, query);
  let body = bodies.get(page);
  if (body === undefined) bodies.set(page, (body = bodyOf(page)));
  return body;
}

function bodyOf({ documents, nextMs }: LeadPage): Blob {
  return new Blob([writeLeadList(documents, nextMs === null ? null : writeMoment(nextMs))]);
}
