/** deploy/nginx and deploy/caddy, run by the real programs in front of the real server. */
import { describe, expect } from "bun:test";
import { createKey } from "../../src/contract/key.ts";
import { aLead } from "../support/builders.ts";
import { aFreePort } from "../support/free-port.ts";
import { serve } from "../support/harness.ts";
import { needing } from "../support/needing.ts";
import { start } from "../support/process.ts";
import { logsOf, startProxy } from "../support/proxy.ts";
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

  proxied("passes requests on as their client sent them, and answers what the server does not, in JSON", async () => {
    const { proxy, aKey, logged } = await behind(program);
    const headers = { Authorization: `Bearer ${aKey()}` };
    const answer = await send(proxy.https, { host, headers, target: "/api/v1/leads?limit=1&city=San%20Diego" });
    expect(answer.status).toBe(200);
    expect(JSON.parse(answer.body).data).toHaveLength(1);
    expect(logged.join("")).toContain(answer.headers.get("x-request-id") ?? "none");
    expect(answer.headers.get("x-ratelimit-remaining")).toMatch(/^\d+$/);
    expect(answer.headers.get("strict-transport-security")).toContain("max-age=");

    // The redirect of the bare domain and of plain HTTP is the server's, whatever a client says of itself.
    const target = "/api/v1/leads?limit=1";
    const forged = { "X-Forwarded-Proto": "https", "X-Forwarded-Host": host, Forwarded: "proto=https", ...headers };
    for (const sent of [headers, forged]) {
      const bare = await send(proxy.https, { host: "example.com", target, headers: sent });
      const plain = await send(proxy.http, { host, target, headers: sent });
      for (const { status, headers, body } of [bare, plain]) {
        expect([status, headers.get("location")]).toEqual([308, `${baseUrl}${target}`]);
        expect(JSON.parse(body)).toEqual({ object: "redirect", url: `${baseUrl}${target}` });
      }
    }
    expect(logged.join("")).toContain("crossed the network in the clear");
    const other = { ...forged, "X-Forwarded-Proto": "http", "X-Forwarded-Host": "example.com" };
    expect((await send(proxy.https, { host, headers: other })).status).toBe(200);

    expectError(await send(proxy.https, { host, target: "/metrics" }), 404, "not_found");
    for (const method of ["FOO", "POST"])
      expectError(await send(proxy.https, { host, method }), 405, "method_not_allowed");
    const malformed = await sendText(proxy.https, `GET /\x01 nonsense\r\nHost: ${host}\r\n\r\n`, host);
    const oversized = await send(proxy.https, { host, headers: { "X-Large": "x".repeat(40_000) } });
    // Go's server answers these before Caddy sees them.
    expect([malformed.status, oversized.status]).toEqual([400, 431]);
    if (program !== "nginx") return;
    for (const refused of [malformed, oversized]) expectError(refused, refused.status, "invalid_parameter");
    expectError(await send(proxy.https, { host, target: `/${"x".repeat(20_000)}` }), 414, "invalid_parameter");
    const encoded = `POST / HTTP/1.1\r\nHost: ${host}\r\nTransfer-Encoding: gzip\r\nConnection: close\r\n\r\n`;
    expectError(await sendText(proxy.https, encoded, host), 501, "invalid_parameter");
    expectError(await sendText(proxy.https, `GET / HTTP/9.1\r\nHost: ${host}\r\n\r\n`, host), 505, "invalid_parameter");
  });

  proxied("closes a connection that sends no complete head", async () => {
    const { proxy } = await behind(program);
    await expect(sendText(proxy.http, `GET / HTTP/1.1\r\nHost: ${host}\r\n`)).rejects.toThrow();
  });

  proxied("answers 502 in JSON while the server is down, and serves again once it is up", async () => {
    const port = await aFreePort();
    const proxy = await startProxy(program, port);
    expectError(await send(proxy.https, { host }), 502, "internal_error");
    await start({ PORT: String(port), BASE_URL: baseUrl, TRUST_PROXY: "1" }).listening();
    expectError(await send(proxy.https, { host }), 401, "missing_api_key");
  });

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
