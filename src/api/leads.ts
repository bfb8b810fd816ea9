/** GET /api/v1/leads (§4.1): one page of the account's leads, newest first. */
import { Elysia } from "elysia";
import { ErrorResponse, errorResponses, plainError } from "../contract/errors.ts";
import { LeadList } from "../contract/lead.ts";
import { decoders, LeadParameters, type LeadQuery, toLeadQuery } from "../contract/parameters.ts";
import { paths } from "../contract/paths.ts";
import { formatTime } from "../contract/time.ts";
import type { AccountNumber } from "../db/accounts.ts";
import type { LeadPage } from "../db/leads.ts";
import { leadExamples } from "./docs/examples.ts";
import { createPageCache, type Page } from "./page-cache.ts";
import { strictQuery } from "./query.ts";
import { requestContext } from "./request-context.ts";
import type { RequestStore } from "./request-store.ts";

/** Makes the route. A page comes from the cache or the database; either way the ledger records which leads the key was sent. */
export function leadRoute(store: RequestStore) {
  const cached = createPageCache();

  return new Elysia().use(requestContext).get(
    paths.leads,
    ({ context, key, query }) => {
      const read = () => readPage(store, key.account, toLeadQuery(query));
      // A page with a cursor is seldom asked for twice.
      const isCached = query.before === undefined;
      const page = isCached ? cached(`${key.account} ${context.search}`, context.databaseVersion, read) : read();
      store.sent.note(key.number, page, context.arrivedMs);
      return context.respondJson({ status: 200, body: page.body });
    },
    {
      ...strictQuery(LeadParameters, decoders),
      response: { 200: LeadList, ...errorResponses, 404: ErrorResponse },
      detail: {
        "x-examples": leadExamples,
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
  const { pixel_id } = query.filters;
  if (pixel_id !== undefined && !pixels.has(account, String(pixel_id))) throw plainError("unknown_pixel");
  const page = leads.page(account, query);
  return { body: writeEnvelope(page), numbers: page.numbers, newestMs: page.newestMs };
}

const beginning = Buffer.from(`{"object":"list","data":[`);
const comma = Buffer.from(",");

/** Joins stored documents into the list (§2.1). No lead is parsed, rebuilt, or even decoded. */
function writeEnvelope({ documents, nextMs }: LeadPage): Uint8Array<ArrayBuffer> {
  const listed = documents.flatMap((document, index) => (index === 0 ? [document] : [comma, document]));
  const cursor = nextMs === null ? "null" : `"${formatTime(nextMs)}"`;
  return Buffer.concat([beginning, ...listed, Buffer.from(`],"has_more":${nextMs !== null},"next_cursor":${cursor}}`)]);
}
