/** The target of a request is compared as it was sent: another spelling of a path is an unknown path, whatever a URL makes of it. */
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { paths, publicPaths } from "../../src/contract/paths.ts";
import { receive } from "../extensions/delivery/webhooks/receiving.ts";
import { serve } from "../support/harness.ts";
import { exchange, statusesOf } from "../support/wire.ts";

const known: readonly string[] = [...Object.values(paths), ...Object.values(publicPaths)];

/** A rewriting of one character of a path, which many programs undo. */
const aRewriting = fc.constantFrom<(path: string, at: number) => string>(
  (path, at) => `${path.slice(0, at)}${path.slice(at).replace("/", "\\")}`,
  (path, at) => `${path.slice(0, at)}${path.slice(at).replace("/", "/./")}`,
  (path, at) => `${path.slice(0, at)}${path.slice(at).replace("/", "/x/../")}`,
  (path, at) => `${path.slice(0, at)}${path.slice(at).replace("/", "/docs/%2e%2E/")}`,
  (path, at) => `${path.slice(0, at)}${path.slice(at).replace("/", "/.%2E\\docs\\..\\")}`,
  (path, at) => `${path.slice(0, at)}${path.slice(at).replace("/", "//")}`,
  (path, at) => `${path.slice(0, at)}${path.slice(at).replace("/", "%2f")}`,
  (path, at) => path.slice(0, at) + path.slice(at).replace(/[a-z]/, (letter) => letter.toUpperCase()),
  (path, at) => path.slice(0, at) + path.slice(at).replace(/[a-z.]/, (one) => `%${one.charCodeAt(0).toString(16)}`),
  (path) => `${path}/.`,
  (path) => `${path}/x/..`,
  (path) => `${path}/`,
  (path) => `${path}#`,
  (path) => `${path}#/x`,
  (path) => `${path};x`,
  (path) => `/.${path}`,
  (path) => `/docs/..${path}`,
  (path) => `/\\..${path}`,
  (path) => path,
);

const aPath = fc
  .tuple(fc.constantFrom(...known), fc.array(fc.tuple(aRewriting, fc.nat(20)), { maxLength: 3 }))
  .map(([path, rewritings]) => rewritings.reduce((now, [rewrite, at]) => rewrite(now, at % now.length), path))
  .filter((path) => path.startsWith("/"));

test("a path is known exactly if it was sent as it is documented", async () => {
  const { send, aKey } = await serve();
  const headers = { Authorization: `Bearer ${aKey()}` };
  const isAsSent = fc.asyncProperty(aPath, fc.constantFrom("", "?", "?x=/../api/v1/leads"), async (path, query) => {
    const { status } = await send({ target: path + query, headers });
    // Bun answers control characters itself, with 505.
    expect([path, [404, 505].includes(status)]).toEqual([path, !known.includes(path)]);
  });
  await fc.assert(isAsSent, {
    numRuns: 500,
    examples: [
      ["/docs/%2e%2e/api/v1/leads", ""],
      ["/docs/../api/v1/leads", ""],
      ["/api/v1\\pixels", ""],
      ["/docs\\..\\metrics", ""],
      ["/api/v1/leads\x0b", ""],
    ],
  });
});

test("a redirect of such a path leads to no known path either", async () => {
  const { send } = await serve({ baseUrl: "https://www.example.com" });
  for (const target of ["/docs/../api/v1/leads?limit=1", "/api/v1\\leads?limit=1"]) {
    const answer = await send({ target, host: "example.com" });
    expect(answer).toMatchObject({ status: 308 });
    expect(answer.headers.get("location")).toBe("https://www.example.com/./api/v1/leads?limit=1");
  }
});

test.each([
  "/in\\TOKEN",
  "/in/x/../TOKEN",
  "/in/%2e/TOKEN",
  "/in/x\\..\\TOKEN",
  "/./in/TOKEN",
  "/in/TOKEN/.",
  "\\in/TOKEN",
])("a delivery to %s is refused, and nothing is stored", async (target) => {
  const { url, token, kept } = await receive();
  const sent = target.replace("TOKEN", token);
  const answer = await exchange(
    url,
    `POST ${sent} HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}`,
  );
  expect([404, 401, 400]).toContain(statusesOf(answer)[0] ?? 0);
  expect(kept()).toEqual([]);
});

test.each(["/in/TOKEN", "/in/TOKEN?x=1"])("a delivery to %s is stored", async (target) => {
  const { url, token, kept } = await receive();
  const sent = target.replace("TOKEN", token);
  await exchange(url, `POST ${sent} HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}`);
  expect(kept()).toEqual([{}]);
});

describe("is answered with 400, and the connection is closed:", () => {
  const next = "GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n";
  test.each<[string, string]>([
    ["two Host headers", "GET /healthz HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n"],
    ["two equal Host headers", "GET /healthz HTTP/1.1\r\nHost: a\r\nX: y\r\nhost: a\r\n\r\n"],
    ["an empty Host header and another", "GET /healthz HTTP/1.1\r\nHost:\r\nHost: a\r\n\r\n"],
    ["two Host headers and an unknown path", "GET /x HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n"],
    ["a target without a slash", "GET api/v1/leads HTTP/1.1\r\nHost: a\r\n\r\n"],
    ["a backslash in front", "GET \\api\\v1\\leads HTTP/1.1\r\nHost: a\r\n\r\n"],
    ["an asterisk", "OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n"],
    ["a host and a port", "CONNECT evil.example:443 HTTP/1.1\r\nHost: a\r\n\r\n"],
    ["a scheme as a host", "CONNECT https:443 HTTP/1.1\r\nHost: a\r\n\r\n"],
    ["another scheme", "GET ftp://a/api/v1/leads HTTP/1.1\r\nHost: a\r\n\r\n"],
  ])("%s", async (_, head) => {
    const { url } = await serve();
    const { url: deliveries } = await receive();
    for (const to of [url, deliveries])
      expect([head, statusesOf(await exchange(to, head + next))]).toEqual([head, [400]]);
  });
});
