/** §7, precedence: of two things that are wrong with a request, the one that comes first here is answered. */
import { expect, test } from "bun:test";
import { createKey } from "../../src/contract/key.ts";
import { serve } from "../support/harness.ts";

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
];

const laterThan = (first: Condition) =>
  conditions
    .slice(conditions.indexOf(first) + 1)
    .filter((second) => first.about === undefined || first.about !== second.about);

test.each(conditions.slice(0, -1))("$name is returned before all later errors", async (first) => {
  const server = await serve({ baseUrl: "https://www.example.com", limit: 1 });
  for (const second of laterThan(first)) {
    const active = ![first, second].some(({ code }) => code === "subscription_required");
    server.admin.accounts.setActive(server.account.number, active, Date.now());
    const { status, error } = await answerTo(server, first, second);
    expect({ second: second.name, status, code: error.code }).toEqual({
      second: second.name,
      status: first.status,
      code: first.code,
    });
    expect(error.message).toContain(first.says ?? "");
  }
});

/** The response to a request with two errors. */
async function answerTo(server: Server, first: Condition, second: Condition) {
  const draft: Draft = {
    host: "www.example.com",
    method: "GET",
    path: "/api/v1/leads",
    key: () => server.aKey(),
    exhausted: false,
    query: [],
  };
  // What comes later in the order comes first in the query, so that its place there decides nothing.
  second.spoil(draft);
  first.spoil(draft);
  const key = draft.key(server);
  const headers = key === null ? {} : { Authorization: `Bearer ${key}` };
  if (draft.exhausted) await server.send({ host: "www.example.com", headers });
  const target = `${draft.path}?${draft.query.join("&")}`;
  const { status, body } = await server.send({ host: draft.host, method: draft.method, target, headers });
  const { error = { code: "", message: "" } } = JSON.parse(body);
  return { status, error };
}
