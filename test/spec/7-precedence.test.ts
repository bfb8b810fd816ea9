/** §7, precedence: of two things that are wrong with a request, the first one here is answered, with the headers of §8. */
import { expect, test } from "bun:test";
import { createKey, digestOf } from "../../src/contract/key.ts";
import { setSubscription } from "../../src/db/accounts.ts";
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
  /** For the name of the test: the status and the code, and whether the request counts. */
  readonly gets: string;
  readonly counts: string;
  /** The text that distinguishes one 400 from another. */
  readonly says?: string;
  readonly spoil: (draft: Draft) => void;
  /** Conditions that share a value with each other cannot hold at once. */
  readonly about?: "key" | "pixel_id";
  /** The key is not a live one. */
  readonly isWithoutKey?: boolean;
}

const condition = (
  name: string,
  status: number,
  code: string,
  spoil: Condition["spoil"],
  more: Pick<Condition, "says" | "about" | "isWithoutKey"> = {},
): Condition => {
  const counts = status === 308 || status === 429 || more.isWithoutKey ? "nowhere" : "once if its key is live";
  return { name, status, code, gets: `${status} ${code}`.trim(), counts, spoil, ...more };
};

const query = (name: string, says: string, pairs: readonly string[], code = "invalid_parameter") =>
  condition(name, 400, code, (draft) => draft.query.push(...pairs), { says });

const malformed = (parameter: string, value: string, code = "invalid_parameter"): Condition =>
  query(`a malformed ${parameter}`, `The parameter ${parameter} `, [`${parameter}=${value}`], code);

const badKey = (name: string, code: string, key: Draft["key"]): Condition =>
  condition(name, 401, code, (draft) => (draft.key = key), { about: "key", isWithoutKey: true });

/** In the order in which they are answered. */
const conditions: readonly Condition[] = [
  condition("the bare domain", 308, "", (draft) => (draft.host = "example.com")),
  condition("a used-up limit", 429, "rate_limit_exceeded", (draft) => (draft.exhausted = true), { about: "key" }),
  condition("an unknown path", 404, "not_found", (draft) => (draft.path = "/api/v1/lead")),
  condition("a path outside the API", 404, "not_found", (draft) => (draft.path = "/robots.txt")),
  condition("another method", 405, "method_not_allowed", (draft) => (draft.method = "POST")),
  badKey("no key", "missing_api_key", () => null),
  badKey("an unknown key", "invalid_api_key", () => createKey()),
  badKey("a revoked key", "revoked_api_key", (server) => server.aRevokedKey()),
  // The account is made inactive below, so that it goes with every key.
  condition("no subscription", 403, "subscription_required", () => {}),
  query("an unknown parameter", "unknown", ["colour=red"]),
  query("a repeated parameter", "more than once", ["city=Reno", "city=Reno"]),
  malformed("limit", "0"),
  malformed("before", "now", "invalid_cursor"),
  malformed("since", "now"),
  { ...malformed("pixel_id", "%00"), about: "pixel_id" },
  malformed("state", "CAL"),
  malformed("city", ""),
  malformed("has_email", "yes"),
  condition("an unknown pixel", 404, "unknown_pixel", (draft) => draft.query.push("pixel_id=px_nobodys"), {
    about: "pixel_id",
  }),
  condition("nothing wrong", 200, "", () => {}),
];

const laterThan = (first: Condition) =>
  conditions
    .slice(conditions.indexOf(first) + 1)
    .filter((second) => first.about === undefined || first.about !== second.about);

test.each(conditions)("$name: $gets, counted $counts, whatever is wrong later in this order", async (first) => {
  const server = await serve({ baseUrl: "https://www.example.com", limit });
  for (const second of [...laterThan(first), conditions.at(-1) ?? first]) {
    const both = [first, second];
    const active = !both.some(({ code }) => code === "subscription_required");
    await setSubscription(server.database, server.account, active, noonMs);
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
