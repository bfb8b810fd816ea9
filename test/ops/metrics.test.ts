/** GET /metrics: counts for Prometheus, for this machine alone unless it is opened. */
import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { networkInterfaces } from "node:os";
import { join } from "node:path";
import { YAML } from "bun";
import { pino } from "pino";
import { Registry } from "prom-client";
import { beginCall } from "../../src/api/call.ts";
import { addRequestMetrics, isFromThisMachine } from "../../src/api/ops/metrics.ts";
import { createAccessLog } from "../../src/api/reply.ts";
import { paths } from "../../src/contract/paths.ts";
import { anAdmin } from "../support/admin.ts";
import { noonMs, someLeads } from "../support/builders.ts";
import { serve } from "../support/harness.ts";
import { needing, unless } from "../support/needing.ts";
import { start } from "../support/process.ts";

const alerts = readFileSync(join(import.meta.dir, "../../deploy/prometheus-alerts.yml"), "utf8");

test("/metrics counts the requests by route, status and error code, and times them", async () => {
  const { as, aKey, anonymous, url } = await serve();
  await as(aKey()).get("/leads");
  await as(aKey()).get("/leads");
  await as(aKey()).get("/usage");
  await as("lf_wrong").get("/leads");
  await anonymous.get("/leads");
  const text = await (await fetch(`${url}/metrics`)).text();
  expect(text).toContain('leadfile_requests_total{route="/api/v1/leads",status="200",code=""} 2');
  expect(text).toContain('leadfile_requests_total{route="/api/v1/usage",status="200",code=""} 1');
  expect(text).toContain('leadfile_requests_total{route="/api/v1/leads",status="401",code="invalid_api_key"} 1');
  expect(text).toContain('leadfile_requests_total{route="/api/v1/leads",status="401",code="missing_api_key"} 1');
  expect(text).toContain('leadfile_request_seconds_count{route="/api/v1/leads"} 4');
});

test("failures are counted from 0 on, so that an alert sees the first one", async () => {
  const { url } = await serve();
  const text = await (await fetch(`${url}/metrics`)).text();
  for (const route of Object.values(paths)) {
    for (const code of ["internal_error", "query_failed"]) {
      expect(text).toContain(`leadfile_requests_total{route="${route}",status="500",code="${code}"} 0`);
    }
  }
});

test("a time is in every class that is not below it", async () => {
  const registry = new Registry();
  const record = createAccessLog(pino({ level: "silent" }), addRequestMetrics(registry));
  const call = beginCall(new Request("http://localhost/api/v1/leads"), 60, noonMs);
  for (const seconds of [0.15, 2]) record({ ...call, startedNs: Bun.nanoseconds() - seconds * 1e9 }, { status: 200 });
  const text = await registry.metrics();
  const upTo = (le: string) =>
    Number(text.split(`leadfile_request_seconds_bucket{le="${le}",route="/api/v1/leads"} `)[1]?.split("\n")[0]);
  expect(["0.0001", "0.1", "0.5", "1", "+Inf"].map(upTo)).toEqual([0, 0, 1, 1, 2]);
  expect(text).toMatch(/leadfile_request_seconds_sum\{route="\/api\/v1\/leads"\} 2\.\d/);
});

test("/metrics tells the size of the file and of its log, the leads, and the keys of this minute", async () => {
  const { as, aKey, url, file } = await serve({ leads: someLeads(3) });
  await as(aKey()).get("/usage");
  const text = await (await fetch(`${url}/metrics`)).text();
  const [fileBytes, logBytes] = [Bun.file(file).size, Bun.file(`${file}-wal`).size];
  expect([fileBytes, logBytes]).not.toContain(0);
  expect(fileBytes).not.toBe(logBytes);
  expect(text).toContain(`leadfile_database_bytes ${fileBytes}\n`);
  expect(text).toContain(`leadfile_wal_bytes ${logBytes}\n`);
  expect(text).toContain("leadfile_leads 3");
  expect(text).toContain("leadfile_limiter_keys 1");
});

test("/metrics tells of the process by the names that dashboards know", async () => {
  const before = Date.now() / 1000;
  const url = await start({ LOG_LEVEL: "silent" }).listening();
  const read = async () => {
    const text = await (await fetch(`${url}/metrics`)).text();
    return (name: string) => Number(new RegExp(`^process_${name} (\\S+)$`, "m").exec(text)?.[1]);
  };
  const [first, second] = [await read(), await read()];
  expect(first("start_time_seconds")).toBeWithin(before - 1, Date.now() / 1000);
  expect(second("start_time_seconds")).toBe(first("start_time_seconds"));
  expect(first("resident_memory_bytes")).toBeGreaterThan(10_000_000);
  expect(first("cpu_seconds_total")).toBeGreaterThan(0);
  expect(second("cpu_seconds_total")).toBeGreaterThanOrEqual(first("cpu_seconds_total"));
  if (process.platform === "linux") expect(first("open_fds")).toBeGreaterThan(3);
});

needing("promtool")("promtool accepts the alerts of deploy/", () => {
  const file = join(import.meta.dir, "../../deploy/prometheus-alerts.yml");
  const checked = Bun.spawnSync(["promtool", "check", "rules", file]);
  expect([checked.exitCode, checked.stderr.toString()]).toEqual([0, ""]);
});

test("every metric that the alerts of deploy/ ask for is there", async () => {
  const admin = anAdmin();
  await admin.import("email,pixel_id\na@example.com,px\n");
  const url = await start({ DATABASE_PATH: admin.file, LOG_LEVEL: "silent" }, admin.folder).listening();
  await fetch(`${url}/healthz`);
  const text = await (await fetch(`${url}/metrics`)).text();
  const { groups } = YAML.parse(alerts) as { groups: { rules: { alert: string; expr: string }[] }[] }; // What it is.
  const rules = groups.flatMap(({ rules }) => rules);
  expect(rules.length).toBeGreaterThan(5);
  for (const { alert, expr } of rules) {
    const named = expr.match(/\b(?:leadfile|process)_\w+/g) ?? (alert === "LeadfileDown" ? [] : [`none of ${alert}`]);
    for (const name of named) expect(text).toMatch(new RegExp(`^(?:# TYPE )?${name}[ {]`, "m"));
  }
});

test("/metrics tells how old the last import is", async () => {
  const admin = anAdmin();
  const url = await start({ DATABASE_PATH: admin.file, LOG_LEVEL: "silent" }, admin.folder).listening();
  const metrics = async () => (await fetch(`${url}/metrics`)).text();
  expect(await metrics()).not.toMatch(/^leadfile_last_import_age_seconds /m);
  await admin.import("email,pixel_id\na@example.com,px\n");
  expect(Number(/^leadfile_last_import_age_seconds (\S+)$/m.exec(await metrics())?.[1])).toBeWithin(0, 60);
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

unless(parser === undefined ? "neither promtool nor prometheus_client here" : null)(
  "Prometheus understands /metrics",
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

test.each(["X-Forwarded-For", "X-Forwarded-Proto", "X-Forwarded-Host", "X-Real-IP", "Forwarded", "Via"])(
  "a request to /metrics that a proxy passed on, as %s shows, is answered with 404",
  async (header) => {
    const { url } = await serve();
    expect((await fetch(`${url}/metrics`, { headers: { [header]: "203.0.113.9" } })).status).toBe(404);
  },
);

describe("/metrics is for this machine alone", () => {
  test.each([
    ["127.0.0.1", true],
    ["127.8.9.1", true],
    ["::1", true],
    ["::ffff:127.0.0.1", true],
    ["192.0.2.7", false],
    ["1.127.0.1", false],
    ["::ffff:192.0.2.7", false],
    ["2001:db8::1", false],
    ["::127", false],
  ])("a client at %s is on it: %p", (address, isHere) => {
    expect(isFromThisMachine(address, new Headers({ Host: "localhost:3000" }))).toBe(isHere);
  });

  test.each([
    ["127.0.0.1:3000", true],
    ["localhost", true],
    ["[::1]:3000", true],
    ["LOCALHOST:3000", true],
    ["evil.example", false],
    ["localhost.evil.example", false],
    ["127.0.0.1.evil.example:3000", false],
    ["10.0.0.7:3000", false],
    ["", false],
  ])("a request for the host %s is for this machine: %p", (host, isHere) => {
    expect(isFromThisMachine("127.0.0.1", new Headers({ Host: host }))).toBe(isHere);
  });

  test("a page of another site cannot read it, although its browser runs on this machine", async () => {
    const { send } = await serve();
    expect((await send({ target: "/metrics", host: "rebound.example" })).status).toBe(404);
  });

  const outside = Object.values(networkInterfaces())
    .flatMap((addresses) => addresses ?? [])
    .find(({ family, internal }) => family === "IPv4" && !internal)?.address;

  unless(outside === undefined ? "no other address here" : null).each([
    ["private", 404],
    ["public", 200],
  ])("with METRICS=%s a client that comes by another address of it gets %p", async (METRICS, status) => {
    const { port } = new URL(await start({ HOST: "0.0.0.0", METRICS }).listening());
    expect((await fetch(`http://127.0.0.1:${port}/metrics`)).status).toBe(200);
    expect((await fetch(`http://${outside}:${port}/metrics`)).status).toBe(status);
  });
});
