/** Servers that break one rule of the specification each: a proxy changes the requests or responses of a server. */
import { answering } from "../../support/answering.ts";

export interface Reply {
  status: number;
  readonly headers: Headers;
  /** Undefined where `text` is no JSON. */
  body: Json;
}

interface Json {
  data?: Record<string, unknown>[];
  next_cursor?: string | null;
  has_more?: boolean;
  error?: Record<string, unknown>;
  [name: string]: unknown;
}

interface Break {
  /** Changes a request. */
  readonly ask?: (url: URL, request: Request) => unknown;
  /** Changes a response. */
  readonly tell?: (reply: Reply, url: URL, request: Request) => unknown;
}

/** Starts a proxy of a server, whose URL may be set later, and returns its address. */
export function proxyOf(server: { url: string }, { ask, tell }: Break = {}): URL {
  const address = answering(async (request) => {
    const url = new URL(request.url);
    const asked = new URL(url.pathname + url.search, server.url);
    ask?.(asked, request);
    const { method } = request;
    const response = await fetch(asked, { method, headers: request.headers, redirect: "manual" });
    const headers = new Headers(response.headers);
    headers.delete("content-length");
    // The server conforms, and every answer is an object.
    const reply: Reply = { status: response.status, headers, body: (await response.json()) as Json };
    tell?.(reply, url, request);
    return new Response(JSON.stringify(reply.body), { status: reply.status, headers });
  });
  return new URL(address);
}

/** Changes the pages of leads, or the list of pixels. */
const eachPage = (
  change: (body: Required<Pick<Json, "data">> & Json, url: URL) => unknown,
  path = "/api/v1/leads",
): Break => ({
  tell: ({ body }, url) => {
    const { data } = body;
    if (url.pathname === path && data !== undefined) change(Object.assign(body, { data }), url);
  },
});

/** Changes each item of a list. */
const eachLead = (change: (lead: Record<string, unknown>) => Record<string, unknown>, path?: string): Break =>
  eachPage((body) => (body.data = body.data.map(change)), path);

/** Changes the answers with this code. */
const eachError = (
  code: string,
  change: (reply: Reply & { body: { error: Record<string, unknown> } }) => unknown,
): Break => ({
  tell: (reply) => {
    const { error } = reply.body;
    if (error?.["code"] === code) change(Object.assign(reply, { body: Object.assign(reply.body, { error }) }));
  },
});

const isTime = (text: string | null) => !Number.isNaN(Date.parse(text ?? ""));

const without = (parameter: string): Break => ({ ask: (url) => url.searchParams.delete(parameter) });

/** A millisecond is added to a bound, so that it is on the other side of the lead at that time. */
const shifted = (parameter: string): Break => ({
  ask: (url) => {
    const text = url.searchParams.get(parameter) ?? "";
    if (isTime(text)) url.searchParams.set(parameter, new Date(Date.parse(text) + 1).toISOString());
  },
});

const cursorMovedBy = (ms: number): Break =>
  eachPage((body) => {
    if (body.has_more === true) body.next_cursor = new Date(Date.parse(body.next_cursor ?? "") + ms).toISOString();
  });

const succeeds = (reply: Reply) =>
  Object.assign(reply, { status: 200, body: { object: "list", data: [], has_more: false, next_cursor: null } });

const usageOf = (count: unknown): Break => ({
  tell: ({ body }) => "requests_today" in body && (body["requests_today"] = count),
});

/** The defects of a server, each with the name of the check that must fail. */
export const broken: Readonly<Record<string, readonly [change: Break, caught: string]>> = {
  "a lead lacks a field": [eachLead(({ referrer: _, ...lead }) => lead), "20 fields"],
  "a lead has a field more": [eachLead((lead) => ({ ...lead, score: 1 })), "20 fields"],
  "the fields of a lead are in another order": [eachLead(({ id, ...lead }) => ({ ...lead, id })), "20 fields"],
  "a phone has other letters than digits": [eachLead((lead) => ({ ...lead, phone: "+1 555" })), "20 fields"],
  "an unknown value is an empty text of no state": [eachLead((lead) => ({ ...lead, state: "" })), "20 fields"],
  "a time has no offset": [
    eachLead((lead) => ({ ...lead, identified_at: String(lead["identified_at"]).replace("Z", "") })),
    "20 fields",
  ],
  "object is not list": [eachPage((body) => (body["object"] = "leads")), "list envelope, with has_more"],
  "a page comes oldest first": [eachPage((body) => body.data.reverse()), "newest first"],
  "a page has fewer leads than the limit": [eachPage((body) => body.data.splice(20)), "limit is kept to"],
  "the limit is not kept to": [without("limit"), "limit is kept to"],
  "before is inclusive": [shifted("before"), "before is strict"],
  "the cursor passes a lead": [cursorMovedBy(-1), "meets every lead once"],
  "the cursor repeats a lead": [cursorMovedBy(1), "meets every lead once"],
  "has_more is never true": [eachPage((body) => Object.assign(body, { has_more: false })), "has_more is true exactly"],
  "has_more is always true": [
    eachPage((body) =>
      Object.assign(body, { has_more: true, next_cursor: body.next_cursor ?? "2026-01-01T00:00:00Z" }),
    ),
    "has_more is true exactly",
  ],
  "since is exclusive": [shifted("since"), "since is inclusive"],
  "since is ignored": [without("since"), "since is inclusive"],
  "pixel_id is ignored": [without("pixel_id"), "pixel_id gives"],
  "state is ignored": [without("state"), "state gives"],
  "city is ignored": [without("city"), "city gives"],
  "city is compared with its case": [
    eachPage((body, { searchParams: asked }) => {
      if (asked.has("city")) body.data = body.data.filter((lead) => lead["city"] === asked.get("city"));
    }),
    "city is compared without case",
  ],
  "has_email is ignored": [without("has_email"), "has_email=true"],
  "a malformed since is ignored": [
    { ask: ({ searchParams: asked }) => isTime(asked.get("since")) || asked.delete("since") },
    "since = yesterday",
  ],
  "a malformed cursor is any parameter": [
    eachError("invalid_cursor", ({ body }) => (body.error["code"] = "invalid_parameter")),
    "before = yesterday",
  ],
  "an unknown pixel has no leads": [eachError("unknown_pixel", succeeds), "pixel_id = no such pixel"],
  "a pixel has no status": [eachLead(({ id }) => ({ id }), "/api/v1/pixels"), "with pixels in it"],
  "usage counts in texts": [usageOf("12"), "usage object"],
  "usage does not count itself": [usageOf(12), "count toward the totals"],
  "an error has no link": [
    eachError("missing_api_key", ({ body }) => delete body.error["docs"]),
    "an error has a code, a message and a link",
  ],
  "an error has the status of another": [
    eachError("unknown_pixel", (reply) => (reply.status = 400)),
    "every error has the body and the status",
  ],
  "an error has a code of its own": [
    eachError("not_found", ({ body }) => (body.error["code"] = "no_route")),
    "every error has the body and the status",
  ],
  "a revoked key does not exist": [
    eachError("revoked_api_key", ({ body }) => (body.error["code"] = "invalid_api_key")),
    "a revoked key",
  ],
  "a lapsed subscription is a wrong key": [
    eachError("subscription_required", (reply) => (reply.status = 401)),
    "without a subscription",
  ],
  "a POST is a GET": [{ tell: (reply, _, { method }) => method === "POST" && succeeds(reply) }, "POST is refused"],
  "a POST meets no endpoint": [
    eachError("method_not_allowed", (reply) => {
      reply.status = 404;
      reply.body.error["code"] = "not_found";
    }),
    "POST is refused",
  ],
  "an answer is a page": [
    eachError("not_found", ({ headers }) => headers.set("Content-Type", "text/html")),
    "every answer is JSON",
  ],
  "an answer lacks the limit": [
    eachError("missing_api_key", ({ headers }) => headers.delete("X-RateLimit-Limit")),
    "X-RateLimit-Limit and",
  ],
  "the limit is another one": [
    { tell: ({ headers }) => void headers.set("X-RateLimit-Limit", "600") },
    "the limit of a key is 60",
  ],
  "any key in the URL is taken": [
    { tell: (reply, { searchParams }) => searchParams.has("api_key") && (reply.status = 200) },
    "a key in the URL",
  ],
};

/** The same for what --limits looks at. */
export const brokenLimits: Readonly<Record<string, Break>> = {
  "a 429 has no Retry-After": eachError("rate_limit_exceeded", ({ headers }) => headers.delete("Retry-After")),
  "a 429 has another code": eachError("rate_limit_exceeded", ({ body }) => (body.error["code"] = "slow_down")),
  "there is no limit": eachError("rate_limit_exceeded", succeeds),
};
