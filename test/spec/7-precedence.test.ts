/** §7, precedence: of two things that are wrong with a request, the first one here is answered, with the headers of §8. */
import { expect, test } from "bun:test";
import { createKey, digestOf } from "../../src/contract/key.ts";
import { noonMs } from "../support/builders.ts";
import { serve } from "../support/harness.ts";
import type { WireAnswer } from "../support/wire.ts";

type Server = Awaited<ReturnType<typeof serve>>;

/** A request in the making, which conditions spoil one by one. */
interface Draft {
  host: string;
  method: string;
  path: string;
  key: (server: Server) => string | null;
  exhausted: boolean;
  query: string[];
}

interface Condition {
  readonly name: string;
  readonly status: number;
  readonly code: string;
  /** The text that distinguishes one 400 from another. */
  readonly says?: string;
  readonly spoil: (draft: Draft) => void;
  /** Conditions that share a value with each other cannot hold at once. */
  readonly about?: "key" | "pixel_id";
  /** The key is not a live one. */
  readonly isWithoutKey?: boolean;
}

const malformed = (parameter: string, value: string, code = "invalid_parameter"): Condition => ({
  name: `a malformed ${parameter}`,
  status: 400,
  code,
  says: `The parameter ${parameter} `,
  spoil: (draft) => draft.query.push(`${parameter}=${value}`),
});

const badKey = (name: string, code: string, key: Draft["key"]): Condition => ({
  name,
  status: 401,
  code,
  about: "key",
  isWithoutKey: true,
  spoil: (draft) => {
    draft.key = key;
  },
});

/** In the order in which they are answered. */
const conditions: Condition[] = [
  { name: "the bare domain", status: 308, code: "", spoil: (draft) => (draft.host = "example.com") },
  {
    name: "a used-up limit",
    status: 429,
    code: "rate_limit_exceeded",
    about: "key",
    spoil: (draft) => (draft.exhausted = true),
  },
  { name: "an unknown path", status: 404, code: "not_found", spoil: (draft) => (draft.path = "/api/v1/lead") },
  { name: "a path outside the API", status: 404, code: "not_found", spoil: (draft) => (draft.path = "/robots.txt") },
  { name: "another method", status: 405, code: "method_not_allowed", spoil: (draft) => (draft.method = "POST") },
  badKey("no key", "missing_api_key", () => null),
  badKey("an unknown key", "invalid_api_key", () => createKey()),
  badKey("a revoked key", "revoked_api_key", (server) => server.aRevokedKey()),
  {
    name: "no subscription",
    status: 403,
    code: "subscription_required",
    // The account is made inactive below, so that it goes with every key.
    spoil: () => {},
  },
  {
    name: "an unknown parameter",
    status: 400,
    code: "invalid_parameter",
    says: "unknown",
    spoil: (draft) => draft.query.push("colour=red"),
  },
  {
    name: "a repeated parameter",
    status: 400,
    code: "invalid_parameter",
    says: "more than once",
    spoil: (draft) => draft.query.push("city=Reno", "city=Reno"),
  },
  malformed("limit", "0"),
  malformed("before", "now", "invalid_cursor"),
  malformed("since", "now"),
  { ...malformed("pixel_id", "%00"), about: "pixel_id" },
  malformed("state", "CAL"),
  malformed("city", ""),
  malformed("has_email", "yes"),
  {
    name: "an unknown pixel",
    status: 404,
    code: "unknown_pixel",
    about: "pixel_id",
    spoil: (draft) => draft.query.push("pixel_id=px_nobodys"),
  },
  { name: "nothing wrong", status: 200, code: "", spoil: () => {} },
];

const laterThan = (first: Condition) =>
  conditions
    .slice(conditions.indexOf(first) + 1)
    .filter((second) => first.about === undefined || first.about !== second.about);

test.each(conditions)("$name is answered before all later errors, with the headers of every answer", async (first) => {
  const server = await serve({ baseUrl: "https://www.example.com", limit });
  for (const second of [...laterThan(first), conditions.at(-1) ?? first]) {
    const both = [first, second];
    const active = !both.some(({ code }) => code === "subscription_required");
    server.admin.accounts.setActive(server.account.number, active, Date.now());
    const { answer, requests } = await answerTo(server, both);
    const { error = { code: "", message: "", docs: "https://www.example.com/docs#" } } = JSON.parse(answer.body);
    expect([second.name, answer.status, error.code]).toEqual([second.name, first.status, first.code]);
    expect(error.message).toContain(first.says ?? "");
    expect(error.docs).toBe(`https://www.example.com/docs#${first.code}`);
    expect(headersOf(answer)).toEqual(expectedHeaders(first, requests.before));
    const isCounted = requests.before !== null && first.status !== 308 && first.status !== 429;
    expect([second.name, requests.after]).toEqual([
      second.name,
      isCounted ? (requests.before ?? 0) + 1 : requests.before,
    ]);
  }
});

const limit = 2;
const requestIds = new Set<string>();
const minuteEnd = Date.parse("2026-02-01T12:01:00.000Z") / 1000;

/** The headers of an answer that tell something. No answer has a header of CORS: keys must not be in a browser. */
function headersOf({ headers }: WireAnswer) {
  const id = headers.get("x-request-id") ?? "";
  expect(requestIds).not.toContain(id);
  requestIds.add(id);
  const cors = [...headers.keys()].filter((name) => name.startsWith("access-control"));
  expect([cors, id]).toEqual([[], expect.stringMatching(/^[\da-f-]{36}$/)]);
  const names = ["allow", "cache-control", "content-type", "retry-after", "www-authenticate", "x-content-type-options"];
  const limits = ["limit", "remaining", "reset"].map((name) => `x-ratelimit-${name}`);
  return Object.fromEntries([...names, ...limits].map((name) => [name, headers.get(name)]));
}

/** A request without a live key, and a redirect, are counted nowhere. */
function expectedHeaders({ status }: Condition, requestsBefore: number | null) {
  const left = status === 308 || requestsBefore === null ? limit : limit - 1 - requestsBefore;
  return {
    allow: status === 405 ? "GET" : null,
    "cache-control": "no-store",
    "content-type": expect.stringMatching(/^application\/json/),
    "retry-after": status === 429 ? "60" : null,
    "www-authenticate": status === 401 ? "Bearer" : null,
    "x-content-type-options": "nosniff",
    "x-ratelimit-limit": String(limit),
    "x-ratelimit-remaining": String(Math.max(0, left)),
    "x-ratelimit-reset": String(minuteEnd),
  };
}

/** The response to a request with some errors, and the requests of its key before and after it; null without a live key. */
async function answerTo(server: Server, errors: readonly Condition[]) {
  const draft: Draft = {
    host: "www.example.com",
    method: "GET",
    path: "/api/v1/leads",
    key: () => server.aKey(),
    exhausted: false,
    query: [],
  };
  // What comes later in the order comes first in the query, so that its place there decides nothing.
  for (const { spoil } of errors.toReversed()) spoil(draft);
  const key = draft.key(server);
  const number = key === null ? undefined : server.store.keys.find(digestOf(key))?.number;
  const isLive = number !== undefined && !errors.some(({ isWithoutKey }) => isWithoutKey);
  const count = () => (isLive ? server.store.usage.of(number, noonMs).today : null);
  const headers = { Origin: "https://shop.example.com", "X-Request-Id": "theirs" };
  const withKey = key === null ? headers : { ...headers, Authorization: `Bearer ${key}` };
  if (draft.exhausted)
    for (let request = 0; request < limit; request++) await server.send({ host: "www.example.com", headers: withKey });
  const before = count();
  const target = `${draft.path}?${draft.query.join("&")}`;
  const answer = await server.send({ host: draft.host, method: draft.method, target, headers: withKey });
  return { answer, requests: { before, after: count() } };
}
