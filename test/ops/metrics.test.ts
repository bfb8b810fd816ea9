/** GET /metrics: counts for Prometheus, for this machine alone unless it is opened. */
import { expect, test } from "bun:test";
import { serve } from "../harness.ts";

test("/metrics counts the requests by route and status, and times them", async () => {
  const { as, aKey, url } = await serve();
  await as(aKey()).get("/leads");
  await as(aKey()).get("/leads");
  await as("lf_wrong").get("/leads");
  const text = await (await fetch(`${url}/metrics`)).text();
  expect(text).toContain('leadfile_requests_total{route="/api/v1/leads",status="200"} 2');
  expect(text).toContain('leadfile_requests_total{route="/api/v1/leads",status="401"} 1');
  expect(text).toContain('leadfile_request_seconds_count{route="/api/v1/leads"} 3');
});

test("/metrics tells the size of the file and of its log, and the keys of this minute", async () => {
  const { as, aKey, url } = await serve();
  await as(aKey()).get("/usage");
  const text = await (await fetch(`${url}/metrics`)).text();
  expect(text).toMatch(/^leadfile_database_bytes [1-9]\d+$/m);
  expect(text).toMatch(/^leadfile_wal_bytes \d+$/m);
  expect(text).toContain("leadfile_limiter_keys 1");
});

test("paths that are nowhere are counted together, so that nobody can make the counts grow", async () => {
  const { url } = await serve();
  for (const path of ["/one", "/two", "/three@example.com"]) await fetch(`${url}${path}`);
  const text = await (await fetch(`${url}/metrics`)).text();
  expect(text).toContain('leadfile_requests_total{route="other",status="404"} 3');
});

test.each(["X-Forwarded-For", "Forwarded"])(
  "a request to /metrics that a proxy passed on, as %s shows, is answered with 404",
  async (header) => {
    const { url } = await serve();
    expect((await fetch(`${url}/metrics`, { headers: { [header]: "203.0.113.9" } })).status).toBe(404);
  },
);
