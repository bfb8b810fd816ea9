/** §4: which paths there are, and that each of the API takes GET alone. */
import { describe, expect, test } from "bun:test";
import { serve } from "../support/harness.ts";

const endpoints = ["/api/v1/leads", "/api/v1/pixels", "/api/v1/usage"];

describe.each(endpoints)("%s", (target) => {
  test.each(["HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"])(
    "answers %s with method_not_allowed and Allow: GET",
    async (method) => {
      const { send, aKey } = await serve();
      const answer = await send({ method, target, headers: { Authorization: `Bearer ${aKey()}` } });
      expect([answer.status, answer.headers.get("allow")]).toEqual([405, "GET"]);
      if (method !== "HEAD") expect(JSON.parse(answer.body).error.code).toBe("method_not_allowed");
    },
  );

  test("answers a request that has a body with method_not_allowed, whatever the body is", async () => {
    const { url, send, aKey } = await serve();
    const headers = { Authorization: `Bearer ${aKey()}`, "Content-Type": "application/json" };
    const answer = await fetch(url + target, { method: "POST", headers, body: "{not json" });
    expect(answer.status).toBe(405);
    const announced = { ...headers, "Content-Length": "20000000000" };
    expect((await send({ method: "POST", target, headers: announced })).status).toBe(405);
  });
});

test.each([
  ...["/api/v1/leads/", "/api/v1//leads", "//api/v1/leads", "/api//v1/leads", "/API/v1/leads", "/api/v1/Leads"],
  ...["/api/v1/lead%73", "/api%2Fv1/leads", "/api/v1/leads%20", "/api/v1/leads/1", "/api/v1/lead", "/api/v1", "/api"],
  ...["/api/v1/./usage", "/api/v1/%2e%2E/v1/usage", "/docs/../api/v1/usage", "/api/v1\\usage"],
  ...["/leads", "/favicon.ico", "/wp-login.php", "/healthz/", "/openapi.json/x", "/docs/try/x"],
])("%s gets not_found, as an unknown path of the API", async (target) => {
  const { send } = await serve();
  const answer = await send({ target });
  expect(answer.status).toBe(404);
  expect(JSON.parse(answer.body).error.code).toBe("not_found");
  expect(answer.headers.get("x-ratelimit-limit")).not.toBeNull();
});

test("reads a target in absolute form as its path", async () => {
  const { send, aKey } = await serve();
  const target = "http://elsewhere.example.com/api/v1/usage";
  expect((await send({ target, headers: { Authorization: `Bearer ${aKey()}` } })).status).toBe(200);
});

const publicPages = [
  ["/docs", 200, "text/html"],
  ["/docs/try", 200, "text/html"],
  ["/docs/try/swagger-ui.js", 200, "text/javascript"],
  ["/docs/try/swagger-ui.css", 200, "text/css"],
  ["/openapi.json", 200, "application/json"],
  ["/healthz", 200, "application/json"],
  ["/metrics", 200, "text/plain"],
  ["/", 302, "text/plain"],
] as const;

describe("a public path", () => {
  test.each(publicPages)(
    "%s needs no key, has no limit, and takes GET and HEAD alone",
    async (target, status, type) => {
      const { send } = await serve();
      const { headers, ...got } = await send({ target, headers: { "X-Request-Id": "theirs" } });
      expect([got.status, headers.get("x-ratelimit-limit")]).toEqual([status, null]);
      expect(got.body).not.toBe("");
      expect(headers.get("content-type")).toStartWith(type);
      expect(headers.get("x-content-type-options")).toBe("nosniff");
      expect(headers.get("x-request-id")).toMatch(/^[\da-f-]{36}$/);
      expect(headers.get("content-security-policy") ?? "").not.toContain("unsafe");
      expect(await send({ method: "HEAD", target })).toMatchObject({ status, body: "" });
      const refused = await send({ method: "POST", target });
      expect([refused.status, refused.headers.get("allow")]).toEqual([405, "GET, HEAD"]);
    },
  );

  test.each(["/healthz", "/metrics"])("%s must not be cached", async (target) => {
    expect((await (await serve()).send({ target })).headers.get("cache-control")).toBe("no-store");
  });

  test("the root leads to the documentation", async () => {
    const { send } = await serve();
    expect((await send({ target: "/" })).headers.get("location")).toBe("/docs");
  });

  test("a key that is sent to a public path is not counted", async () => {
    const { send, as, aKey } = await serve();
    const key = aKey();
    await send({ target: "/docs", headers: { Authorization: `Bearer ${key}` } });
    await send({ target: "/healthz", headers: { Authorization: `Bearer ${key}` } });
    expect((await as(key).get("/usage")).body.requests_today).toBe(1);
  });
});
