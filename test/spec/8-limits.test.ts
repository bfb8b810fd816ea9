/** §8: sixty requests per key and UTC clock minute, and the headers that say how many are left. */
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { noonMs } from "../support/builders.ts";
import { serve } from "../support/harness.ts";
import type { WireAnswer } from "../support/wire.ts";

const minuteEnd = Date.parse("2026-02-01T12:01:00.000Z");

describe("every response has the rate limit headers", () => {
  test.each([
    ["a page", { target: "/api/v1/leads" }, { withKey: 200, without: 401 }],
    ["a 400", { target: "/api/v1/leads?limit=0" }, { withKey: 400, without: 401 }],
    ["an unknown pixel", { target: "/api/v1/leads?pixel_id=px_nobodys" }, { withKey: 404, without: 401 }],
    ["an unknown path", { target: "/api/v2/leads" }, { withKey: 404, without: 404 }],
    ["a path outside /api", { target: "/robots.txt" }, { withKey: 404, without: 404 }],
    ["a refused method", { method: "PATCH" }, { withKey: 405, without: 405 }],
    ["HEAD", { method: "HEAD" }, { withKey: 405, without: 405 }],
    ["the bare domain", { host: "example.com" }, { withKey: 308, without: 308 }],
  ])("%s, counted with a key, and with Remaining equal to the limit without one", async (_, request, expected) => {
    const { send, aKey } = await serve({ limit: 60, baseUrl: "https://www.example.com" });
    const headers = { Authorization: `Bearer ${aKey()}` };
    const limitsOf = ({ status, headers }: WireAnswer) => [
      status,
      ...["limit", "remaining", "reset"].map((name) => Number(headers.get(`x-ratelimit-${name}`))),
    ];
    // A redirect is not counted.
    const remaining = expected.withKey === 308 ? 60 : 59;
    expect(limitsOf(await send({ ...request, headers }))).toEqual([expected.withKey, 60, remaining, minuteEnd / 1000]);
    expect(limitsOf(await send(request))).toEqual([expected.without, 60, 60, minuteEnd / 1000]);
  });

  test.each(["/api/v1/leads", "/api/v1/lead", "/robots.txt"])(
    "%s is JSON that must not be cached, with a request ID of the server",
    async (target) => {
      const { send } = await serve();
      const first = await send({ target, headers: { "X-Request-Id": "theirs" } });
      expect(first.headers.get("content-type")).toStartWith("application/json");
      expect(first.headers.get("cache-control")).toBe("no-store");
      expect(first.headers.get("x-content-type-options")).toBe("nosniff");
      const id = first.headers.get("x-request-id");
      expect(id).toMatch(/^[\w-]{8,}$/);
      expect([null, "theirs", id]).not.toContain((await send({ target })).headers.get("x-request-id"));
      expect(id).not.toBe("theirs");
    },
  );
});

test("serves the sixtieth request of a minute, and answers the sixty-first with 429 and Retry-After: 60", async () => {
  const { as, aKey, clock } = await serve({ limit: 60 });
  const client = as(aKey());
  for (let left = 59; left >= 0; left--) {
    const { status, headers } = await client.get("/pixels");
    expect([status, headers.get("x-ratelimit-remaining")]).toEqual([200, String(left)]);
  }
  clock.nowMs = minuteEnd - 1;
  const refused = await client.get("/pixels");
  expect(refused).toMatchObject({ status: 429, body: { error: { code: "rate_limit_exceeded" } } });
  expect(refused.headers.get("retry-after")).toBe("60");
  expect(refused.headers.get("x-ratelimit-remaining")).toBe("0");
  clock.nowMs = minuteEnd;
  const next = await client.get("/pixels");
  expect([next.status, next.headers.get("x-ratelimit-remaining")]).toEqual([200, "59"]);
  expect(next.headers.get("x-ratelimit-reset")).toBe(String(minuteEnd / 1000 + 60));
});

test("the limit is counted for each key alone, within one account too", async () => {
  const { as, aKey } = await serve({ limit: 1 });
  const [one, other] = [as(aKey()), as(aKey())];
  expect((await one.get("/leads")).status).toBe(200);
  expect((await one.get("/leads")).status).toBe(429);
  expect((await other.get("/leads")).status).toBe(200);
});

test("a refused request is not counted", async () => {
  const { as, aKey, clock } = await serve({ limit: 2 });
  const client = as(aKey());
  for (let request = 0; request < 5; request++) await client.get("/leads");
  clock.nowMs = minuteEnd;
  const usage = await client.get("/usage");
  expect(usage.body.requests_today).toBe(3);
  expect(usage.headers.get("x-ratelimit-remaining")).toBe("1");
});

test.each(["a revoked", "an unknown"])("%s key is never over its limit", async (which) => {
  const { as, aRevokedKey } = await serve({ limit: 1 });
  const client = as(which === "a revoked" ? aRevokedKey() : "lf_nobodys");
  for (let request = 0; request < 3; request++) {
    const { status, headers } = await client.get("/leads");
    expect([status, headers.get("x-ratelimit-remaining")]).toEqual([401, "1"]);
  }
});

test("a key that is revoked after it used up its limit answers that it was revoked", async () => {
  const { as, aKeyRecord, admin } = await serve({ limit: 1 });
  const { secret, id } = aKeyRecord();
  await as(secret).get("/leads");
  admin.keys.revoke(id, noonMs);
  expect((await as(secret).get("/leads")).body.error.code).toBe("revoked_api_key");
});

test("the headers report what is left of a fixed one-minute window, whatever the requests and the clock", async () => {
  const limit = 3;
  const { as, aKey, clock } = await serve({ limit });
  const clients = [as(aKey()), as(aKey())];
  const step = fc.record({ who: fc.nat({ max: 1 }), waitMs: fc.constantFrom(0, 1, 20_000, 59_999, 60_000, 600_000) });
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 12 }), async (steps) => {
      clock.nowMs += 3_600_000;
      const used = new Map<string, number>();
      for (const { who, waitMs } of steps) {
        clock.nowMs += waitMs;
        const window = `${who} ${Math.floor(clock.nowMs / 60_000)}`;
        const before = used.get(window) ?? 0;
        const answer = await clients[who]?.get("/leads");
        expect(answer?.status).toBe(before < limit ? 200 : 429);
        expect(answer?.headers.get("x-ratelimit-remaining")).toBe(String(Math.max(0, limit - before - 1)));
        used.set(window, Math.min(limit, before + 1));
      }
    }),
    { numRuns: 60 },
  );
});
