/** Requests that nobody sends in good faith: grammar bent in every place, and bytes that are no grammar at all. */
import type { Random } from "../../../random.ts";

/** Bytes to be sent on one connection, and how many requests they are meant to be. */
export interface Salvo {
  readonly bytes: Buffer;
  readonly requests: number;
}

export function aSalvo(random: Random, secret: string): Salvo {
  const kind = random.below(40);
  if (kind === 0) return { bytes: random.bytes(1 + random.below(2000)), requests: 1 };
  const requests = 1 + random.below(40);
  // A request that is no HTTP ends its connection, so there is one, and it comes last.
  const bent = Array.from({ length: requests - 1 }, () => aRequest(random, secret, false)).join("");
  const last = Buffer.from(aRequest(random, secret, kind % 2 === 0), "latin1");
  return {
    bytes: Buffer.concat([Buffer.from(bent, "latin1"), kind % 3 === 0 ? mutate(last, random) : last]),
    requests,
  };
}

function mutate(bytes: Buffer, random: Random): Buffer {
  let mutated = bytes;
  for (let turn = 1 + random.below(4); turn > 0; turn--) {
    const at = random.below(mutated.length);
    const [head, tail] = [mutated.subarray(0, at), mutated.subarray(at)];
    const how = random.below(4);
    if (how === 0) mutated = Buffer.concat([head, random.bytes(1), tail.subarray(1)]);
    else if (how === 1) mutated = Buffer.concat([head, random.bytes(1 + random.below(40)), tail]);
    else if (how === 2) mutated = Buffer.concat([head, tail.subarray(random.below(20))]);
    else mutated = Buffer.concat([head, tail.subarray(0, random.below(200)), tail]);
  }
  return mutated;
}

/** A request that is hostile in what it says, or one that is broken as a request as well. */
function aRequest(random: Random, secret: string, broken: boolean): string {
  const method = random.below(6) > 0 ? "GET" : random.pick(methods);
  const lines = [`${method} ${aTarget(random)} HTTP/1.1`, `Host: ${random.pick(hosts)}`];
  if (random.below(4) > 0) lines.push(`Authorization: ${anAuthorization(random, secret)}`);
  while (random.below(4) === 0) lines.push(random.pick(headers)(random));
  const [bodyHeaders, body] = random.below(12) > 0 ? ["", ""] : random.pick(bodies);
  const text = `${lines.join("\r\n")}\r\n${bodyHeaders}\r\n${body}`;
  if (!broken) return text;
  const [from, to] = random.pick(breaks);
  return text.replace(from, () => to(random));
}

const methods = ["HEAD", "POST", "OPTIONS", "PUT", "DELETE", "TRACE", "PATCH", "M-SEARCH"] as const;

/** Replacements that make a request invalid HTTP. */
const breaks: readonly [Break, ...Break[]] = [
  [/^[A-Z-]+/, () => "get"],
  [/^[A-Z-]+/, () => "X".repeat(300)],
  [/^[A-Z-]+ [^ ]*/, () => "PRI *"],
  [/^[A-Z-]+ [^ ]*/, () => "CONNECT evil.example:443"],
  [/ [^ ]* /, (random) => ` /${"a".repeat(random.below(40_000))} `],
  [/ [^ ]* /, (random) => ` /${random.bytes(random.below(60)).toString("latin1")} `],
  [" HTTP/1.1", () => " HTTP/1.0"],
  [" HTTP/1.1", () => " HTTP/2.0"],
  [" HTTP/1.1", () => " HTTP/0.9"],
  [" HTTP/1.1", () => ""],
  [/Host: .*\r\n/, () => ""],
  ["\r\n", () => "\n"],
  ["\r\n\r\n", () => "\r\nNo colon at all\r\n\r\n"],
  ["\r\n\r\n", () => "\r\n: no name\r\n\r\n"],
  ["\r\n\r\n", () => "\r\nFolded: a\r\n b\r\n\r\n"],
  ["\r\n\r\n", () => "\r\nSpace : before\r\n\r\n"],
  ["\r\n\r\n", (random) => `\r\nX: ${random.bytes(60).toString("latin1")}\r\n\r\n`],
  ["\r\n\r\n", () => "\r\nContent-Length: 0\r\nContent-Length: 5\r\n\r\nhello"],
  ["\r\n\r\n", () => "\r\nContent-Length: -1\r\n\r\n"],
  ["\r\n\r\n", () => "\r\nContent-Length: 99999999999999999999\r\n\r\nx"],
  ["\r\n\r\n", () => "\r\nTransfer-Encoding: chunked\r\n\r\nFFFFFFFFFFFFFFFFF\r\nx"],
  [
    "\r\n\r\n",
    () => "\r\nTransfer-Encoding: chunked\r\nContent-Length: 4\r\n\r\n5c\r\nGET / HTTP/1.1\r\n\r\n0\r\n\r\n",
  ],
  ["\r\n\r\n", () => "\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n"],
];
type Break = readonly [from: string | RegExp, to: (random: Random) => string];

const hosts = [
  "127.0.0.1",
  "localhost:3000",
  "",
  "www.example.com",
  "example.com",
  "a@b",
  "[::1]:80",
  "[::1",
  "evil.example/api",
  "x".repeat(900),
  "127.0.0.1:99999",
  "\xff\xfe",
  "a,b",
  "a b",
  "..",
  "/",
  "http://x",
] as const;

const known = [
  "/api/v1/leads",
  "/api/v1/pixels",
  "/api/v1/usage",
  "/docs",
  "/openapi.json",
  "/healthz",
  "/metrics",
  "/",
] as const;

function aTarget(random: Random): string {
  const path = random.below(5) > 0 ? random.pick(known) : random.pick(oddPaths)(random);
  if (random.below(3) === 0) return path;
  const pairs = Array.from({ length: random.below(random.pick([3, 3, 8, 60])) }, () => aPair(random));
  return `${path}?${pairs.join(random.pick(["&", "&", "&&", ";"]))}`;
}

const oddPaths: readonly [(random: Random) => string, ...((random: Random) => string)[]] = [
  () => "http://evil.example/api/v1/leads",
  () => "https://127.0.0.1/api/v1/usage",
  () => "//api/v1/leads",
  () => "/api/v1/../v1/leads",
  () => "/api/v1/%6ceads",
  () => "/api/v1/leads/",
  () => "/api\\v1\\leads",
  () => "/api/v1/leads#part",
  () => "/api/v1/leads%00",
  () => "/docs/../../../../etc/passwd",
  () => "/docs/%2e%2e/%2e%2e/etc/passwd",
  () => "/api/v1/leads/constructor/__proto__",
  (random) => `/${"a".repeat(random.below(6000))}`,
  (random) => `/${"%25".repeat(random.below(2000))}`,
];

const names = [
  "limit",
  "before",
  "since",
  "pixel_id",
  "state",
  "city",
  "has_email",
  "LIMIT",
  "befor",
  "__proto__",
  "constructor",
  "",
  "%6cimit",
  "%FF",
  "a[b]",
  "lim\xefit",
] as const;

function aPair(random: Random): string {
  return `${random.pick(names)}${random.below(8) === 0 ? "" : "="}${random.pick(values)(random)}`;
}

const values: readonly [(random: Random) => string, ...((random: Random) => string)[]] = [
  (random) => String(random.below(200)),
  () => "1e1",
  () => "9".repeat(400),
  () => "2026-01-31T09:15:00Z",
  () => "2026-02-30T00:00:00Z",
  () => "0000-01-01T00:00:00+23:59",
  () => "9999-12-31T23:59:59.9999999999-23:59",
  (random) => `2026-01-31T09:15:00.${"1".repeat(random.below(5000))}Z`,
  () => "-271821-04-20T00:00:00Z",
  () => "'%20OR%201=1--",
  () => "%27;DROP%20TABLE%20keys;--",
  () => "%00",
  () => "%FF%FE",
  () => "%",
  () => "%E2%80",
  () => "%F0%9F%92%A9".repeat(50),
  () => "CA",
  () => "C%41",
  () => "%C4%B0",
  () => "true",
  () => "TRUE",
  () => "%0d%0aSet-Cookie:%20a=b",
  (random) => "a".repeat(random.below(12_000)),
  (random) => encodeURIComponent(random.bytes(random.below(40)).toString("latin1")),
];

function anAuthorization(random: Random, secret: string): string {
  const kinds = [
    `Bearer ${secret}`,
    `Bearer ${secret}`,
    `Bearer ${secret}`,
    `bearer    ${secret}`,
    `Bearer\t${secret}`,
    `Bearer ${secret.slice(0, -1)}0`,
    "Bearer",
    "Bearer ",
    "Basic YTpi",
    `Bearer ${secret}, Bearer ${secret}`,
    `Bearer ${"A".repeat(random.below(8000))}`,
    "\xff\xfe",
    `Bearer ' OR 1=1`,
    `Bearer lf_${"0".repeat(38)}`,
  ] as const;
  return random.pick(kinds);
}

const headers: readonly [(random: Random) => string, ...((random: Random) => string)[]] = [
  () => "Connection: keep-alive, Upgrade",
  () => "Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
  () => "Upgrade: h2c",
  () => "X-Forwarded-Host: example.com",
  () => "X-Forwarded-Proto: http",
  () => "Range: bytes=0-,0-,0-",
  () => "Expect: 100-continue",
  () => "Host: second.example",
  () => "Content-Type: application/json",
  () => "Accept-Encoding: gzip, br, zstd",
  () => "If-None-Match: *",
  (random) => `X-${"n".repeat(random.below(200))}: ${"v".repeat(random.below(9000))}`,
  (random) => Array.from({ length: random.below(150) }, (_, n) => `X-${n}: ${n}`).join("\r\n") || "X: y",
];

const bodies: readonly [Body, ...Body[]] = [
  ["Content-Length: 5\r\n", "hello"],
  ["Content-Length: 28\r\n", "GET /api/v1/usage HTTP/1.1\r\n"],
  ["Transfer-Encoding: chunked\r\n", "5\r\nhello\r\n0\r\n\r\n"],
];
type Body = readonly [headers: string, body: string];
