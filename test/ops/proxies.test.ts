/** deploy/nginx.conf and deploy/Caddyfile, run by the real programs in front of the real server. */
import { describe, expect } from "bun:test";
import { createKey } from "../../src/contract/key.ts";
import { aLead } from "../support/builders.ts";
import { serve } from "../support/harness.ts";
import { needing } from "../support/needing.ts";
import { start } from "../support/process.ts";
import { aFreePort, logsOf, startProxy } from "../support/proxy.ts";
import { send, sendText, type WireAnswer } from "../support/wire.ts";

const programs = ["nginx", "caddy"] as const;
type Program = (typeof programs)[number];

const host = "www.example.com";
const baseUrl = `https://${host}`;

/** Checks an error in the form of the API, whichever program made it. */
function expectError(answer: WireAnswer, status: number, code: string): void {
  expect(answer.status).toBe(status);
  expect(answer.headers.get("content-type")).toBe("application/json");
  expect(JSON.parse(answer.body)).toEqual({
    error: { code, message: expect.stringMatching(/\.$/), docs: `${baseUrl}/docs#${code}` },
  });
  expect(answer.headers.get("x-ratelimit-limit")).toMatch(/^\d+$/);
  expect(answer.headers.get("x-ratelimit-remaining")).toMatch(/^\d+$/);
  expect(answer.headers.get("x-request-id")).toMatch(/^[\w-]{32,36}$/);
  expect(answer.headers.get("cache-control")).toBe("no-store");
}

/** A server behind one of the proxies. */
async function behind(program: Program) {
  const server = await serve({ baseUrl, trustProxy: true, leads: [aLead()] });
  return { ...server, proxy: await startProxy(program, Number(new URL(server.url).port)) };
}

describe.each(programs)("%s in front of the server", (program) => {
  const proxied = needing(program, "openssl");

  proxied("passes a request with its key on, and the answer back with its headers", async () => {
    const { proxy, aKey, logged } = await behind(program);
    const headers = { Authorization: `Bearer ${aKey()}` };
    const answer = await send(proxy.https, { host, headers, target: "/api/v1/leads?limit=1&city=San%20Diego" });
    expect(answer.status).toBe(200);
    expect(JSON.parse(answer.body).data).toHaveLength(1);
    const id = answer.headers.get("x-request-id") ?? "none";
    expect(logged.join("")).toContain(id);
    expect(answer.headers.get("x-ratelimit-remaining")).toMatch(/^\d+$/);
    expect(answer.headers.get("strict-transport-security")).toContain("max-age=");
  });

  proxied("leaves the redirect of the bare domain and of plain HTTP to the server: 308, in JSON", async () => {
    const { proxy, aKey, logged } = await behind(program);
    const target = "/api/v1/leads?limit=1";
    const headers = { Authorization: `Bearer ${aKey()}` };
    const bare = await send(proxy.https, { host: "example.com", target });
    const plain = await send(proxy.http, { host, target, headers });
    for (const answer of [bare, plain]) {
      expect(answer.status).toBe(308);
      expect(answer.headers.get("location")).toBe(`${baseUrl}${target}`);
      expect(JSON.parse(answer.body)).toEqual({ object: "redirect", url: `${baseUrl}${target}` });
    }
    expect(logged.join("")).toContain("crossed the network in the clear");
  });

  proxied("ignores the forwarding headers of a client", async () => {
    const { proxy, aKey } = await behind(program);
    const forged = { "X-Forwarded-Proto": "https", "X-Forwarded-Host": host, Forwarded: "proto=https" };
    const headers = { ...forged, Authorization: `Bearer ${aKey()}` };
    expect((await send(proxy.http, { host, headers })).status).toBe(308);
    expect((await send(proxy.https, { host: "example.com", headers })).status).toBe(308);
    const other = { ...headers, "X-Forwarded-Proto": "http", "X-Forwarded-Host": "example.com" };
    expect((await send(proxy.https, { host, headers: other })).status).toBe(200);
  });
});

describe.each(programs)("%s on its own", (program) => {
  const proxied = needing(program, "openssl");

  proxied("does not serve the metrics", async () => {
    const { proxy } = await behind(program);
    expectError(await send(proxy.https, { host, target: "/metrics" }), 404, "not_found");
  });

  proxied("answers a method that HTTP does not know with 405, in JSON", async () => {
    const { proxy } = await behind(program);
    expectError(await send(proxy.https, { host, method: "FOO" }), 405, "method_not_allowed");
    expectError(await send(proxy.https, { host, method: "POST" }), 405, "method_not_allowed");
  });

  proxied("answers 502 in JSON while the server is down, and serves again once it is up", async () => {
    const port = await aFreePort();
    const proxy = await startProxy(program, port);
    expectError(await send(proxy.https, { host }), 502, "internal_error");
    await start({ PORT: String(port), BASE_URL: baseUrl, TRUST_PROXY: "1" }).listening();
    expectError(await send(proxy.https, { host }), 401, "missing_api_key");
  });

  proxied("answers malformed HTTP with 400 and an oversized head with 431", async () => {
    const { proxy } = await behind(program);
    const malformed = await sendText(proxy.https, `GET /\x01 nonsense\r\nHost: ${host}\r\n\r\n`, host);
    const oversized = await send(proxy.https, { host, headers: { "X-Large": "x".repeat(40_000) } });
    if (program === "nginx") {
      expectError(malformed, 400, "invalid_parameter");
      expectError(oversized, 431, "invalid_parameter");
      expectError(await send(proxy.https, { host, target: `/${"x".repeat(20_000)}` }), 414, "invalid_parameter");
    } else {
      // Go's server answers these before Caddy sees them.
      expect([malformed.status, oversized.status]).toEqual([400, 431]);
    }
  });

  proxied("closes a connection that sends no complete head", async () => {
    const { proxy } = await behind(program);
    await expect(sendText(proxy.http, `GET / HTTP/1.1\r\nHost: ${host}\r\n`)).rejects.toThrow();
  });
});

describe.each(programs)("%s", (program) => {
  const proxied = needing(program, "openssl");

  proxied("writes no key, no query and no path into a log", async () => {
    const { proxy, aKey, stop } = await behind(program);
    const key = aKey();
    const target = "/api/v1/leads?city=Zzyzx";
    for (const tried of [key, createKey()]) {
      const headers = { Authorization: `Bearer ${tried}`, Referer: "https://dana@example.com/" };
      await send(proxy.https, { host, headers, target });
      await send(proxy.http, { host, headers, target });
      await send(proxy.https, { host, headers, target: `/dana@example.com/${tried}` });
    }
    await stop();
    expect((await send(proxy.https, { host, headers: { Authorization: `Bearer ${key}` }, target })).status).toBe(502);
    const log = await logsOf(proxy, "GET", 7);
    expect(log).not.toMatch(/Zzyzx|dana/i);
    expect(log).not.toContain(key.slice(8));
    expect(log).toMatch(program === "nginx" ? / GET 200 .* GET 502 /s : /"status":200.*"status":502/s);
  });
});
