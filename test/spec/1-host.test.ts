/** §1: the public address, and who is sent to it. */
import { describe, expect, test } from "bun:test";
import { aLead } from "../support/builders.ts";
import { serve } from "../support/harness.ts";

const www = "https://www.example.com";

describe("the bare domain of a www address", () => {
  test.each([
    ...["example.com", "example.com:8443", "EXAMPLE.com", "example.com."].map((host) => ({ host })),
    ...["HEAD", "POST", "OPTIONS", "DELETE"].map((method) => ({ method })),
    ...["/nothing", "/docs", "/", "/openapi.json"].map((target) => ({ target })),
  ])("a request to it is redirected to the public address with 308: %j", async (request) => {
    const { send } = await serve({ baseUrl: www });
    const { target, ...asked } = { host: "example.com", target: "/api/v1/leads?limit=5&city=San%20Diego", ...request };
    const answer = await send({ ...asked, target });
    expect([answer.status, answer.headers.get("location")]).toEqual([308, www + target]);
    const hasBody = !("method" in request) || request.method !== "HEAD";
    expect(answer.body).toBe(hasBody ? `{"object":"redirect","url":"${www}${target}"}` : "");
  });

  test.each([
    ["the www host", www, "www.example.com"],
    ["the www host with a port", www, "www.example.com:443"],
    ["an address", www, "127.0.0.1"],
    ["another subdomain", www, "api.example.com"],
    ["a longer name", www, "notexample.com"],
    ["an empty host", www, ""],
    ["the host of an address without www", "https://leads.example.com", "example.com"],
    ["the very host of an address without www", "https://example.com", "example.com"],
  ])("a request to %s is not redirected", async (_, baseUrl, host) => {
    const { send, aKey } = await serve({ baseUrl, leads: [aLead()] });
    const answer = await send({ host, headers: { Authorization: `Bearer ${aKey()}` } });
    expect(answer.status).toBe(200);
  });

  test.each([
    ["/healthz", 200],
    // The metrics are for the machine itself, and need a token if BASE_URL is public.
    ["/metrics", 404],
  ])("%s is never redirected, and answers another host and a proxy with %d", async (target, status) => {
    const { send } = await serve({ baseUrl: www, trustProxy: true });
    expect((await send({ target, host: "127.0.0.1" })).status).toBe(status);
    expect((await send({ target, host: "example.com" })).status).toBe(status);
    expect((await send({ target, headers: { "X-Forwarded-Proto": "http" } })).status).toBe(status);
  });
});

describe("behind a proxy", () => {
  const proto = (value: string) => ({ "X-Forwarded-Proto": value });

  test.each(["http", "HTTP", "http, https"])(
    "a request that came to a trusted proxy over %s is redirected",
    async (came) => {
      const { send } = await serve({ baseUrl: www, trustProxy: true });
      const answer = await send({ host: "www.example.com", target: "/api/v1/usage", headers: proto(came) });
      expect([answer.status, answer.headers.get("location")]).toEqual([308, `${www}/api/v1/usage`]);
    },
  );

  test.each([
    ["over https", www, true, "https"],
    ["over http to a public address that is http", "http://www.example.com", true, "http"],
    ["with a word of a proxy that is not trusted", www, false, "http"],
  ])("a request %s is answered", async (_, baseUrl, trustProxy, came) => {
    const { send } = await serve({ baseUrl, trustProxy });
    expect((await send({ host: "www.example.com", headers: proto(came) })).status).toBe(401);
  });

  test("X-Forwarded-Host decides only if the proxy is trusted", async () => {
    const headers = { "X-Forwarded-Host": "example.com" };
    const trusting = await serve({ baseUrl: www, trustProxy: true });
    expect((await trusting.send({ host: "10.0.0.7", headers })).status).toBe(308);
    const wary = await serve({ baseUrl: www });
    expect((await wary.send({ host: "10.0.0.7", headers })).status).toBe(401);
  });

  test("the Host header decides if a trusted proxy sends no X-Forwarded-Host", async () => {
    const { send } = await serve({ baseUrl: www, trustProxy: true });
    expect((await send({ host: "example.com", headers: proto("https") })).status).toBe(308);
    expect((await send({ host: "www.example.com", headers: proto("https") })).status).toBe(401);
  });

  test("the log warns of a live key that crossed the network in the clear, by its prefix", async () => {
    const { send, aKey, logged } = await serve({ baseUrl: www, trustProxy: true });
    const key = aKey();
    await send({ host: "www.example.com", headers: { ...proto("http"), Authorization: `Bearer ${key}` } });
    const warnings = logged.filter((line) => JSON.parse(line).level === 40);
    expect(warnings).toHaveLength(1);
    expect(warnings[0]).toContain(key.slice(0, 8));
    expect(warnings[0]).toContain("clear");
    expect(logged.join("")).not.toContain(key);
  });

  test("the log does not warn of a revoked key that crossed the network in the clear", async () => {
    const { send, aRevokedKey, logged } = await serve({ baseUrl: www, trustProxy: true });
    const headers = { ...proto("http"), Authorization: `Bearer ${aRevokedKey()}` };
    expect((await send({ host: "www.example.com", headers })).status).toBe(308);
    expect(logged.filter((line) => JSON.parse(line).level === 40)).toEqual([]);
  });
});
