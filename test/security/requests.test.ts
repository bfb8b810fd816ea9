/** Requests that mean one thing to a proxy and another to a server, or that name a host of their own. */
import { describe, expect, test } from "bun:test";
import { connect } from "node:net";
import { aLead } from "../support/builders.ts";
import { serve } from "../support/harness.ts";
import { statusesOf } from "../support/wire.ts";

/** Sends bytes as they are on one connection, and says that no more come; all that came back. */
function exchange(url: string, text: string): Promise<string> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve) => {
    let answer = "";
    const socket = connect(Number(port), hostname, () => socket.end(text, "latin1"));
    socket.on("data", (bytes) => {
      answer += bytes.toString("latin1");
    });
    socket.on("error", () => undefined);
    socket.on("close", () => resolve(answer));
  });
}

describe("a request inside a body is never answered:", () => {
  const inner = (key: string) => `GET /api/v1/leads HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${key}\r\n\r\n`;
  const chunked = (text: string) => `${text.length.toString(16)}\r\n${text}\r\n0\r\n\r\n`;
  test.each<[string, (text: string) => string]>([
    ["of the length that is said", (text) => `Content-Length: ${text.length}\r\n\r\n${text}`],
    ["in chunks", (text) => `Transfer-Encoding: chunked\r\n\r\n${chunked(text)}`],
    [
      "with a length and in chunks",
      (text) => `Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n${chunked(text)}`,
    ],
    [
      "in chunks and with a length",
      (text) => `Transfer-Encoding: chunked\r\nContent-Length: 0\r\n\r\n${chunked(text)}`,
    ],
    ["with two lengths", (text) => `Content-Length: 0\r\nContent-Length: ${text.length}\r\n\r\n${text}`],
    ["with a list of lengths", (text) => `Content-Length: 0, ${text.length}\r\n\r\n${text}`],
    ["with a length that has a sign", (text) => `Content-Length: +${text.length}\r\n\r\n${text}`],
    ["with a length in another base", (text) => `Content-Length: 0x${text.length.toString(16)}\r\n\r\n${text}`],
    ["with a length that is negative", (text) => `Content-Length: -1\r\n\r\n${text}`],
    [
      "in chunks of another name",
      (text) => `Transfer-Encoding: xchunked\r\nContent-Length: ${text.length}\r\n\r\n${text}`,
    ],
    ["in chunks after a tab", (text) => `Transfer-Encoding:\tchunked\r\nContent-Length: 0\r\n\r\n${chunked(text)}`],
    ["with a space before the colon", (text) => `Content-Length : ${text.length}\r\n\r\n${text}`],
    ["after a folded header", (text) => `X: a\r\n Content-Length: 0\r\nContent-Length: ${text.length}\r\n\r\n${text}`],
    ["with a bare line feed", (text) => `X: a\nContent-Length: ${text.length}\r\n\r\n${text}`],
    ["in chunks with an odd size", (text) => `Transfer-Encoding: chunked\r\n\r\n0x${chunked(text)}`],
    ["in chunks twice", (text) => `Transfer-Encoding: chunked, chunked\r\n\r\n${chunked(text)}`],
  ])("%s", async (_, bodyOf) => {
    const { url, aKey } = await serve({ leads: [aLead({ name: "Smuggled Lead" })] });
    const answer = await exchange(url, `POST /api/v1/leads HTTP/1.1\r\nHost: a\r\n${bodyOf(inner(aKey()))}`);
    expect(answer).not.toContain("Smuggled Lead");
    expect(statusesOf(answer).filter((status) => status !== 405 && status !== 400)).toEqual([]);
  });

  test("and the request after the body is answered with its own key", async () => {
    const { url, aKey } = await serve({ leads: [aLead()] });
    const body = inner(aKey());
    const answer = await exchange(
      url,
      `POST /api/v1/leads HTTP/1.1\r\nHost: a\r\nContent-Length: ${body.length}\r\n\r\n${body}${inner("none")}`,
    );
    expect(statusesOf(answer)).toEqual([405, 401]);
  });
});

test("pipelined requests are each answered for their own key", async () => {
  const { url, aKey, anAccount, aKeyRecord } = await serve({ leads: [aLead({ name: "First Account" })] });
  const other = aKeyRecord(anAccount({ leads: [aLead({ name: "Second Account" })] })).secret;
  const of = (key: string) => `GET /api/v1/leads HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${key}\r\n\r\n`;
  const bare = "GET /api/v1/leads HTTP/1.1\r\nHost: a\r\n\r\n";
  const answer = await exchange(url, of(aKey()) + bare + of(other) + of("lf_none") + bare);
  expect(statusesOf(answer)).toEqual([200, 401, 200, 401, 401]);
  expect(answer.match(/First Account|Second Account/g)).toEqual(["First Account", "Second Account"]);
});

describe("no response redirects to a host from the client:", () => {
  const targets = [
    "//evil.example/api/v1/leads",
    "/\\evil.example",
    "http://evil.example/api/v1/leads",
    "http://user:pass@evil.example:8080/",
    "@evil.example/",
    ":80@evil.example/",
    ".evil.example/",
    "/api/v1/leads?next=//evil.example",
    "/%0d%0aLocation:%20http://evil.example",
  ];
  const hosts = [
    "evil.example",
    "example.com",
    "example.com:99",
    "EXAMPLE.COM.",
    "www.example.com@evil.example",
    "[::1",
  ];

  const baseUrl = "https://www.example.com";

  /** Every place to which an answer leads. */
  function origins(answer: string): string[] {
    const locations = [...answer.matchAll(/^Location: (?!\/docs)(.*)\r$/gim)];
    const links = [...answer.matchAll(/"(?:docs|url)":"([^"]*)"/g)];
    return [...locations, ...links].map(([, address = ""]) => new URL(address).origin);
  }

  test.each([false, true])(
    "neither as its target nor in Host or X-Forwarded-Host (TRUST_PROXY %p)",
    async (trustProxy) => {
      const { url } = await serve({ baseUrl, trustProxy });
      const heads = targets.flatMap((target) =>
        hosts.map(
          (host) =>
            `GET ${target} HTTP/1.1\r\nHost: ${host}\r\nX-Forwarded-Host: ${host}\r\nForwarded: host=evil.example\r\n` +
            "X-Forwarded-Proto: http\r\nConnection: close\r\n\r\n",
        ),
      );
      const answers = await Promise.all(heads.map((head) => exchange(url, head)));
      const reached = new Set(answers.flatMap(origins));
      expect([...reached]).toEqual([baseUrl]);
    },
  );
});

describe("CONNECT is never redirected and opens no tunnel:", () => {
  const targets = ["evil.example:443", ".evil.example:443", "@evil.example:443", "/api/v1/leads", "/", "/docs"];
  test.each(targets)("%s", async (target) => {
    const { url } = await serve({ baseUrl: "https://www.example.com", trustProxy: true });
    for (const host of ["example.com", "www.example.com", "evil.example:443"]) {
      const head = `CONNECT ${target} HTTP/1.1\r\nHost: ${host}\r\nX-Forwarded-Proto: http\r\nConnection: close\r\n\r\n`;
      const answer = await exchange(url, head);
      expect([400, 404, 405]).toContain(statusesOf(answer)[0] ?? 0);
      expect(answer).not.toMatch(/^location:/im);
    }
  });
});
