/** deploy/nginx.conf and deploy/Caddyfile, run by the real programs in front of the real server. */
import { describe, expect, onTestFinished } from "bun:test";
import { connect, type Socket } from "node:net";
import { createKey } from "../../src/contract/key.ts";
import { receive } from "../extensions/delivery/webhooks/receiving.ts";
import { aLead } from "../support/builders.ts";
import { eventually } from "../support/eventually.ts";
import { serve } from "../support/harness.ts";
import { needing } from "../support/needing.ts";
import { start } from "../support/process.ts";
import { aFreePort, type FrontProxy, startProxy } from "../support/proxy.ts";
import { send, sendText, type WireAnswer } from "../support/wire.ts";

const programs = ["nginx", "caddy"] as const;
type Program = (typeof programs)[number];

const host = "www.example.com";
const baseUrl = `https://${host}`;

/** An error of the API, whoever made it. */
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

  proxied("does not believe a client's own word on how it came", async () => {
    const { proxy, aKey } = await behind(program);
    const lies = { "X-Forwarded-Proto": "https", "X-Forwarded-Host": host, Forwarded: "proto=https" };
    const headers = { ...lies, Authorization: `Bearer ${aKey()}` };
    expect((await send(proxy.http, { host, headers })).status).toBe(308);
    expect((await send(proxy.https, { host: "example.com", headers })).status).toBe(308);
    const other = { ...headers, "X-Forwarded-Proto": "http", "X-Forwarded-Host": "example.com" };
    expect((await send(proxy.https, { host, headers: other })).status).toBe(200);
  });

  proxied(
    "passes a delivery on to its endpoint, and writes nothing of its token or its visits into a log",
    async () => {
      const endpoint = await receive({ trustProxy: true });
      const proxy = await startProxy(program, await aFreePort(), Number(new URL(endpoint.url).port));
      const target = `/in/${endpoint.token}`;
      const visit = { email: "dana@example.com", note: "x".repeat(900_000) };
      const deliver = (url: string, body: string) => send(url, { host, method: "POST", target, body });
      expect((await deliver(proxy.https, JSON.stringify(visit))).status).toBe(200);
      expect(endpoint.kept()).toEqual([visit]);
      const [tooLarge, plain] = [
        await deliver(proxy.https, `"${"x".repeat(1_000_001)}"`),
        await deliver(proxy.http, "{}"),
      ];
      expect([tooLarge.status, tooLarge.body]).toEqual([413, expect.stringContaining("larger than 1 MB")]);
      expect([plain.status, plain.headers.get("location")]).toEqual([308, `${baseUrl}${target}`]);
      const headers = { Authorization: `Bearer ${endpoint.token}` };
      const inHeader = await send(proxy.https, { host, method: "POST", target: "/in", headers, body: "[]" });
      expect(inHeader.status).toBe(200);
      expect(await logsOf(proxy, "POST", 4)).not.toMatch(/lfin_|dana/);
    },
  );
});

describe.each(programs)("%s on its own", (program) => {
  const proxied = needing(program, "openssl");

  proxied("shows nobody the metrics", async () => {
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

  proxied("ends a connection whose head does not come", async () => {
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

needing("nginx", "openssl")(
  "nginx writes no token into a log when clients that send nothing have used up its connections",
  async () => {
    const proxy = await startProxy("nginx", await aFreePort(), await aFreePort(), 16);
    const token = createKey("lfin_");
    const deliver = () => send(proxy.http, { host, method: "POST", target: `/in/${token}`, body: "{}" });
    const open: Socket[] = [];
    onTestFinished(() => open.forEach((socket) => void socket.destroy()));
    let status = 502;
    while (status === 502) {
      const socket = connect(Number(new URL(proxy.http).port), "127.0.0.1").on("error", () => undefined);
      // Without a beginning nginx would take the connection back.
      await new Promise<void>((resolve) => void socket.write("GET / HTTP/1.1\r\n", () => resolve()));
      open.push(socket);
      status = (await deliver()).status;
    }
    expect(status).toBe(500);
    await eventually(async () => expect(proxy.logs()).toMatch(/ 500 \d+ /));
    expect(proxy.logs()).not.toContain(token.slice(5, 20));
  },
);

/** What a proxy has in its logs once it has said so many answers to a test; a log may come a moment after the answer. */
async function logsOf(proxy: FrontProxy, method: "GET" | "POST", answers: number): Promise<string> {
  const answered = new RegExp(` ${method} \\d{3} |"method":"${method}".*"status":\\d{3}`, "g");
  // One more was asked for by the start, until it was there.
  await eventually(async () =>
    expect(proxy.logs().match(answered)).toHaveLength(method === "GET" ? answers + 1 : answers),
  );
  return proxy.logs();
}
