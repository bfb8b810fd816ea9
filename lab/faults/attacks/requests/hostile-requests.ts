/** Requests that nobody sends in good faith: odd text in every place of a request, broken grammar, and plain noise. */
import type { Random } from "../../../random.ts";

/** Bytes to be sent on one connection, and how many requests they are meant to be. */
export interface Burst {
  readonly bytes: Buffer;
  readonly requests: number;
}

export function aBurst(random: Random, secret: string): Burst {
  if (random.below(40) === 0) return { bytes: random.bytes(1 + random.below(2000)), requests: 1 };
  const all = Array.from({ length: 1 + random.below(40) }, () => Buffer.from(aRequest(random, secret), "latin1"));
  // A request that is no HTTP ends its connection, so there is one, and it comes last.
  const last = all.pop() ?? Buffer.alloc(0);
  const bytes = Buffer.concat([...all, random.below(2) === 0 ? mutate(last, random) : last]);
  return { bytes, requests: all.length + 1 };
}

/** Changes bytes, or inserts some of their own or those that mean something in HTTP, in a few places. */
function mutate(bytes: Buffer, random: Random): Buffer {
  let mutated = bytes;
  for (let turn = 1 + random.below(4); turn > 0; turn--) {
    const isAtLine = random.below(2) === 0;
    const anywhere = random.below(mutated.length);
    const at = isAtLine ? Math.max(0, mutated.indexOf("\r\n", anywhere)) : anywhere;
    const [head, tail] = [mutated.subarray(0, at), mutated.subarray(at)];
    const inserted = random.pick([
      Buffer.from(random.pick(grammar), "latin1"),
      random.bytes(1 + random.below(40)),
      tail.subarray(0, random.below(200)),
      Buffer.alloc(0),
    ]);
    mutated = Buffer.concat([head, inserted, tail.subarray(random.pick([0, 0, 1, 2, random.below(20)]))]);
  }
  return mutated;
}

/** Parts of HTTP that are out of place almost anywhere. */
const grammar: readonly [string, ...string[]] = [
  "\r\n",
  ...["\n", "\r", "\0", " ", "\t", ":", "\r\n: no name", "\r\nNo colon at all", "\r\nFolded: a\r\n b"],
  ...[" HTTP/1.0", " HTTP/2.0", " HTTP/0.9", "PRI *", "CONNECT evil.example:443 ", "get", "X".repeat(300)],
  ...["\r\nSpace : before", "\r\nHost: second.example", "\r\nContent-Length: -1", "\r\nContent-Length: 5"],
  ...["\r\nContent-Length: 99999999999999999999", "\r\nContent-Length: 0\r\nContent-Length: 5"],
  "\r\nTransfer-Encoding: chunked\r\n\r\nFFFFFFFFFFFFFFFFF\r\nx",
  "\r\nTransfer-Encoding: chunked\r\nContent-Length: 4\r\n\r\n5c\r\nGET / HTTP/1.1\r\n\r\n0\r\n\r\n",
  "\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
];

/** A request that is valid HTTP, apart from what its texts make of it. */
function aRequest(random: Random, secret: string): string {
  const method = random.below(6) > 0 ? "GET" : random.pick(methods);
  const host = random.pick(["127.0.0.1", "www.example.com", aText(random)]);
  const lines = [`${method} ${aTarget(random)} HTTP/1.1`, `Host: ${host}`];
  if (random.below(4) > 0) lines.push(`Authorization: ${anAuthorization(random, secret)}`);
  while (random.below(4) === 0) lines.push(random.pick([...headers, `X-${random.below(200)}: ${aText(random)}`]));
  if (random.below(40) === 0) lines.push(...Array.from({ length: random.below(150) }, (_, n) => `X-${n}: ${n}`));
  return `${lines.join("\r\n")}\r\n${random.below(12) > 0 ? "\r\n" : random.pick(bodies)}`;
}

const methods = ["HEAD", "POST", "OPTIONS", "PUT", "DELETE", "TRACE", "PATCH", "M-SEARCH"] as const;

const headers = [
  "Connection: keep-alive, Upgrade",
  "Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
  "Upgrade: h2c",
  "X-Forwarded-Host: example.com",
  "X-Forwarded-Proto: http",
  "Range: bytes=0-,0-,0-",
  "Expect: 100-continue",
  "Content-Type: application/json",
  "Accept-Encoding: gzip, br, zstd",
  "If-None-Match: *",
] as const;

const bodies = [
  "Content-Length: 5\r\n\r\nhello",
  "Content-Length: 28\r\n\r\nGET /api/v1/usage HTTP/1.1\r\n",
  "Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
] as const;

function anAuthorization(random: Random, secret: string): string {
  const right = `Bearer ${secret}`;
  const wrong = [`bearer    ${secret}`, `Bearer\t${secret}`, right.slice(0, -1), `${right}, ${right}`, "Basic YTpi"];
  return random.pick([right, right, right, ...wrong, `Bearer ${aText(random)}`, aText(random)]);
}

const paths = words("/api/v1/leads /api/v1/pixels /api/v1/usage /docs /openapi.json /healthz /metrics /");
const names = words("limit before since pixel_id state city has_email LIMIT befor");

function aTarget(random: Random): string {
  const odd = () => random.pick([`/${aText(random)}`, aText(random), random.pick(paths) + aText(random)]);
  const path = random.below(5) > 0 ? random.pick(paths) : odd();
  if (random.below(3) === 0) return path;
  const pairs = Array.from({ length: random.below(random.pick([3, 3, 8, 60])) }, () => {
    const name = random.below(4) > 0 ? random.pick(names) : aText(random);
    return `${name}${random.below(8) === 0 ? "" : "="}${aText(random)}`;
  });
  return `${path}?${pairs.join(random.pick(["&", "&", "&&", ";"]))}`;
}

/** Text without blanks that programs treat specially, cannot decode, or find too long. */
function aText(random: Random): string {
  const kind = random.below(30);
  if (kind === 0) return "a".repeat(random.below(12_000));
  if (kind === 1) return random.pick(["%25", "%F0%9F%92%A9", "9", "2026-01-31T09:15:00.1"]).repeat(random.below(1000));
  if (kind < 5) return encodeURIComponent(random.bytes(random.below(40)).toString("latin1"));
  return random.pick(texts);
}

const texts = words(`
  0 1 25 100 101 -1 1e1 0x10 true TRUE null __proto__ constructor a[b] %6cimit lim\xefit \xff\xfe % %FF %FF%FE %E2%80 %00
  2026-01-31T09:15:00Z 2026-02-30T00:00:00Z 0000-01-01T00:00:00+23:59 9999-12-31T23:59:59.9999999999-23:59
  -271821-04-20T00:00:00Z '%20OR%201=1-- %27;DROP%20TABLE%20keys;-- %0d%0aSet-Cookie:%20a=b CA C%41 %C4%B0
  http://evil.example/api/v1/leads https://127.0.0.1/api/v1/usage //api/v1/leads api/v1/../v1/leads api/v1/%6ceads
  api/v1/leads/ \\v1\\leads #part docs/../../../../etc/passwd docs/%2e%2e/%2e%2e/etc/passwd leads/constructor/__proto__
  a@b [::1]:80 [::1 127.0.0.1:99999 localhost:3000 evil.example/api a,b .. / lf_00000000000000000000000000000000000000
`);

function words(text: string): readonly [string, ...string[]] {
  return text.trim().split(/\s+/) as [string, ...string[]]; // Text that is split has a first part.
}
