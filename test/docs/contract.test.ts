/**
 * Every response is as /openapi.json describes it, and no request that the description admits is refused
 * as malformed. `CONTRACT_REQUESTS=100000 bun test test/docs/contract.test.ts` asks more than the usual 500.
 */
import { expect, test } from "bun:test";
import fc from "fast-check";
import { LeadParameters } from "../../src/contract/parameters.ts";
import { paths } from "../../src/contract/paths.ts";
import { aLead, someLeads } from "../support/builders.ts";
import { serve } from "../support/harness.ts";
import { describedBy } from "./described.ts";

const requests = Number(process.env["CONTRACT_REQUESTS"] ?? 500);

const timestamp = fc
  .tuple(
    fc.date({ min: new Date("0002-01-01"), max: new Date("9998-12-31"), noInvalidDate: true }),
    fc.constantFrom("Z", "z", "+00:00", "-08:00", "+05:30", "+0530", "+23:59", "", "+5:30", "+24:00"),
    fc.constantFrom("", ".1", ".123", ".123456789", "."),
    fc.constantFrom("T", "T", "T", "t", " ", "_"),
  )
  .map(([date, offset, decimals, letter]) => date.toISOString().slice(0, 19).replace("T", letter) + decimals + offset);

const nonsense = fc.oneof(
  fc.string({ unit: "binary", maxLength: 30 }),
  fc.constantFrom(
    "",
    " ",
    "\0",
    "null",
    "0x10",
    "1e1",
    "+1",
    "TRUE",
    "2026-02-30T00:00:00Z",
    "2026-01-31",
    "ß".repeat(201),
  ),
);

const values: Record<string, fc.Arbitrary<string>> = {
  limit: fc.oneof(
    fc.integer({ min: -2, max: 103 }).map(String),
    fc.string({ unit: fc.constantFrom(..."0123456789"), maxLength: 4 }),
    nonsense,
  ),
  before: fc.oneof(timestamp, timestamp, nonsense),
  since: fc.oneof(timestamp, timestamp, nonsense),
  pixel_id: fc.oneof(fc.constantFrom("px_site", "px_site", "px_nobodys"), nonsense),
  state: fc.oneof(fc.constantFrom("CA", "ca", "NV", "CAL", "C1", "ÄÖ"), nonsense),
  city: fc.oneof(
    fc.constantFrom("San Diego", "san diego", "Zürich", " Reno ", ` ${"🦊".repeat(200)}\n`, "🦊".repeat(201)),
    nonsense,
  ),
  has_email: fc.oneof(fc.constantFrom("true", "false", "1", "True"), nonsense),
};

const pair = fc
  .oneof(
    { weight: 12, arbitrary: fc.constantFrom(...Object.keys(LeadParameters.properties)) },
    { weight: 1, arbitrary: fc.constantFrom("Limit", "cursor", "api_key", "") },
    { weight: 1, arbitrary: fc.string({ unit: "binary", maxLength: 10 }) },
  )
  .chain((name) => fc.tuple(fc.constant(name), (Object.hasOwn(values, name) && values[name]) || nonsense));

const request = fc.record({
  method: fc.oneof(
    { weight: 12, arbitrary: fc.constant("GET") },
    { weight: 1, arbitrary: fc.constantFrom("POST", "PUT", "PATCH", "DELETE", "OPTIONS", "HEAD") },
  ),
  path: fc.oneof(
    { weight: 12, arbitrary: fc.constant(paths.leads) },
    { weight: 3, arbitrary: fc.constantFrom(paths.pixels, paths.usage) },
    { weight: 1, arbitrary: fc.constantFrom("/api/v1/leads/", "/api/v1", "/api/v2/leads", "/nothing") },
  ),
  pairs: fc.oneof(
    { weight: 2, arbitrary: fc.constant<[string, string][]>([]) },
    { weight: 8, arbitrary: fc.uniqueArray(pair, { minLength: 1, maxLength: 4, selector: ([name]) => name }) },
    { weight: 1, arbitrary: fc.array(pair, { maxLength: 4 }) },
  ),
  /** The end of the query, not encoded: it may be what nobody can decode. */
  raw: fc.oneof(
    { weight: 9, arbitrary: fc.constant("") },
    { weight: 1, arbitrary: fc.string().map((text) => text.replaceAll(/[#\s]/g, "")) },
  ),
  key: fc.oneof(
    { weight: 12, arbitrary: fc.constant("live") },
    { weight: 2, arbitrary: fc.constantFrom("none", "unknown", "revoked", "lapsed") },
  ),
});

test(`${requests} generated requests are answered as the OpenAPI document says`, async () => {
  const limit = 2 * requests;
  const server = await serve({ limit, leads: [...someLeads(30), aLead({ city: "Reno", state: "NV", email: null })] });
  const described = await describedBy(server.url);
  const keys: Record<string, string | null> = {
    live: server.aKey(),
    none: null,
    unknown: "lf_nobodys",
    revoked: server.aRevokedKey(),
    lapsed: server.aKey(server.anAccount({ active: false })),
  };
  const met = new Map<number, number>();

  await fc.assert(
    fc.asyncProperty(request, async ({ method, path, pairs, raw, key }) => {
      const search = [...pairs.map(([name, value]) => `${encode(name)}=${encode(value)}`), raw].join("&");
      const secret = keys[key] ?? null;
      const headers: Record<string, string> = secret === null ? {} : { Authorization: `Bearer ${secret}` };
      const response = await fetch(`${server.url}${path}?${search}`, { method, headers, redirect: "manual" });
      const text = method === "HEAD" ? null : await response.text();
      const { status } = response;
      met.set(status, (met.get(status) ?? 0) + 1);
      expect(described.differences(method, path, { status, headers: response.headers, text })).toEqual([]);
      if (key !== "live" || method !== "GET" || !Object.values<string>(paths).includes(path)) return;
      // No parameter is ignored.
      if (raw.replaceAll("&", "") !== "") return void expect(status).toBe(400);
      // What the description admits is answered; what it does not admit is refused as malformed. JSON Schema cannot say
      // that spaces around a city and a NUL do not count.
      if (pairs.some(([name, value]) => value.includes("\0") || (name === "city" && value !== value.trim()))) return;
      const names = pairs.map(([name]) => name);
      const admitted =
        new Set(names).size === names.length && pairs.every(([name, value]) => described.admits(path, name, value));
      expect({ path, search, status, malformed: status === 400 }).toEqual({
        path,
        search,
        status,
        malformed: !admitted,
      });
    }),
    { numRuns: requests },
  );
  for (const status of [200, 400, 401, 403, 404, 405]) expect(met.get(status) ?? 0).toBeGreaterThan(0);
});

test("a 429 and a redirect match the OpenAPI document, too", async () => {
  const { url, as, aKey, send } = await serve({ limit: 1, baseUrl: "https://www.example.com" });
  const described = await describedBy(url);
  const client = as(aKey());
  await client.get("/leads");
  for (const path of Object.values(paths)) {
    const over = await client.get(path.replace("/api/v1", ""));
    expect([over.status, ...described.differences("GET", path, over)]).toEqual([429]);
    const elsewhere = await send({ host: "example.com", target: path });
    expect([elsewhere.status, ...described.differences("GET", path, { ...elsewhere, text: elsewhere.body })]).toEqual([
      308,
    ]);
  }
});

/** Percent-encodes a text; half a surrogate pair, which UTF-8 cannot hold, becomes its replacement. */
function encode(value: string): string {
  return encodeURIComponent(value.toWellFormed());
}
