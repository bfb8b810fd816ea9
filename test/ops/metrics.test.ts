/** GET /metrics: counts for Prometheus, for this machine alone unless it is opened. */
import { expect, test } from "bun:test";
import { someLeads } from "../builders.ts";
import { serve } from "../harness.ts";

test("/metrics counts the requests by route, status and error code, and times them", async () => {
  const { as, aKey, url } = await serve();
  await as(aKey()).get("/leads");
  await as(aKey()).get("/leads");
  await as("lf_wrong").get("/leads");
  const text = await (await fetch(`${url}/metrics`)).text();
  expect(text).toContain('leadfile_requests_total{route="/api/v1/leads",status="200",code=""} 2');
  expect(text).toContain('leadfile_requests_total{route="/api/v1/leads",status="401",code="invalid_api_key"} 1');
  expect(text).toContain('leadfile_request_seconds_count{route="/api/v1/leads"} 3');
});

test("/metrics tells the size of the file and of its log, the leads, and the keys of this minute", async () => {
  const { as, aKey, url } = await serve({ leads: someLeads(3) });
  await as(aKey()).get("/usage");
  const text = await (await fetch(`${url}/metrics`)).text();
  expect(text).toMatch(/^leadfile_database_bytes [1-9]\d+$/m);
  expect(text).toMatch(/^leadfile_wal_bytes \d+$/m);
  expect(text).toContain("leadfile_leads 3");
  expect(text).toContain("leadfile_limiter_keys 1");
});

const readWithClient =
  "import sys, prometheus_client.parser as parser; assert list(parser.text_string_to_metric_families(sys.stdin.read()))";

// promtool comes with Debian's prometheus, the client with python3-prometheus-client.
const parsers: readonly (readonly string[])[] = [
  ["promtool", "check", "metrics"],
  ["python3", "-c", readWithClient],
  ["/usr/bin/python3", "-c", readWithClient],
];
const parser = parsers.find(([program = "", ...args]) => {
  if (Bun.which(program) === null) return false;
  const input = Buffer.from("# HELP up It is up.\n# TYPE up gauge\nup 1\n");
  return Bun.spawnSync([program, ...args], { stdin: input }).exitCode === 0;
});

test.skipIf(parser === undefined)(
  `Prometheus understands /metrics${parser === undefined ? " (skipped: neither promtool nor prometheus_client here)" : ""}`,
  async () => {
    const { as, aKey, url } = await serve({ leads: someLeads(1) });
    await as(aKey()).get("/leads");
    await as("lf_wrong").get("/leads");
    const answer = await fetch(`${url}/metrics`);
    expect(answer.headers.get("content-type")).toStartWith("text/plain; version=0.0.4");
    const checked = Bun.spawnSync([...(parser ?? [])], { stdin: Buffer.from(await answer.text()) });
    expect([checked.exitCode, checked.stdout.toString(), checked.stderr.toString()]).toEqual([0, "", ""]);
  },
);

test("paths that are nowhere are counted together, so that nobody can make the counts grow", async () => {
  const { url } = await serve();
  for (const path of ["/one", "/two", "/three@example.com"]) await fetch(`${url}${path}`);
  const text = await (await fetch(`${url}/metrics`)).text();
  expect(text).toContain('leadfile_requests_total{route="other",status="404",code="not_found"} 3');
});

test.each(["X-Forwarded-For", "Forwarded"])(
  "a request to /metrics that a proxy passed on, as %s shows, is answered with 404",
  async (header) => {
    const { url } = await serve();
    expect((await fetch(`${url}/metrics`, { headers: { [header]: "203.0.113.9" } })).status).toBe(404);
  },
);
