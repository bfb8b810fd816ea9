/** GET /metrics: counts for Prometheus, for this machine alone unless it is opened. */
import { describe, expect, test } from "bun:test";
import { readFileSync, writeFileSync } from "node:fs";
import { networkInterfaces } from "node:os";
import { join } from "node:path";
import { YAML } from "bun";
import { pino } from "pino";
import { Registry } from "prom-client";
import { createAccessLog } from "../../src/api/ops/access-log.ts";
import { addResponseMetrics } from "../../src/api/ops/response-metrics.ts";
import { isFromThisMachine } from "../../src/api/public-pages.ts";
import { RequestContext } from "../../src/api/request-context.ts";
import { paths } from "../../src/contract/paths.ts";
import { anAdmin } from "../support/admin.ts";
import { noonMs, someLeads } from "../support/builders.ts";
import { aFolder } from "../support/folder.ts";
import { serve } from "../support/harness.ts";
import { needing, unless } from "../support/needing.ts";
import { runNow, start } from "../support/process.ts";

const alertsFile = join(import.meta.dir, "../../deploy/prometheus-alerts.yml");
const alerts = readFileSync(alertsFile, "utf8");

/** Reads the metrics of a server. */
const read = async (url: string) => (await fetch(`${url}/metrics`)).text();

test("requests are counted by route, status, and error code, and timed; unknown paths count together", async () => {
  const { as, aKey, anonymous, url } = await serve();
  await as(aKey()).get("/leads");
  await as(aKey()).get("/leads");
  await as(aKey()).get("/usage");
  await as("lf_wrong").get("/leads");
  await anonymous.get("/leads");
  for (const path of ["/one", "/two", "/three@example.com"]) await fetch(`${url}${path}`);
  const text = await read(url);
  const total = (route: string, status: number, code = "") =>
    text.split(`leadfile_requests_total{route="${route}",status="${status}",code="${code}"} `)[1]?.split("\n")[0];
  expect([total(paths.leads, 200), total(paths.usage, 200), total("other", 404, "not_found")]).toEqual(["2", "1", "3"]);
  expect([total(paths.leads, 401, "invalid_api_key"), total(paths.leads, 401, "missing_api_key")]).toEqual(["1", "1"]);
  expect(text).toContain('leadfile_request_seconds_count{route="/api/v1/leads"} 4');
  // Failures are counted from 0 on, so that an alert sees the first one.
  const failures = Object.values(paths).flatMap((route) =>
    ["internal_error", "query_failed"].map((code) => total(route, 500, code)),
  );
  expect(failures).toEqual(failures.map(() => "0"));
});

test("a duration is in every bucket that is not below it", async () => {
  const registry = new Registry();
  const count = addResponseMetrics(registry);
  for (const [status, seconds] of [
    [200, 0.1],
    [200, 0.15],
    [404, 2],
  ] as const)
    count(paths.leads, status, "", seconds);
  const text = await registry.metrics();
  const readSeries = (series: string) => Number(text.split(`leadfile_request_seconds_${series} `)[1]?.split("\n")[0]);
  const upTo = (le: string) => readSeries(`bucket{le="${le}",route="${paths.leads}"}`);
  expect(["0.0001", "0.05", "0.1", "0.5", "1", "+Inf"].map(upTo)).toEqual([0, 0, 1, 2, 2, 3]);
  expect(readSeries(`sum{route="${paths.leads}"}`)).toBeCloseTo(2.25);
});

test("a response took the time since its request arrived", () => {
  const seconds: number[] = [];
  const record = createAccessLog(pino({ level: "silent" }), (...counted) => void seconds.push(counted[3]));
  const context = new RequestContext(new Request("http://localhost/api/v1/leads"), 60, noonMs, record);
  record(Object.assign(context, { startedNs: Bun.nanoseconds() - 2e9 }), { status: 200, body: "" });
  expect(seconds).toEqual([expect.closeTo(2, 1)]);
});

test("the size of the file and of its log, the leads, and the keys of this minute are reported", async () => {
  const { as, aKey, url, file } = await serve({ leads: someLeads(3) });
  await as(aKey()).get("/usage");
  const text = await read(url);
  const [fileBytes, logBytes] = [Bun.file(file).size, Bun.file(`${file}-wal`).size];
  expect([fileBytes, logBytes]).not.toContain(0);
  expect(fileBytes).not.toBe(logBytes);
  const expected = { database_bytes: fileBytes, wal_bytes: logBytes, leads: 3, limiter_keys: 1 };
  for (const [name, value] of Object.entries(expected)) expect(text).toContain(`leadfile_${name} ${value}\n`);
  const free = Number(/^leadfile_disk_free_bytes (\S+)$/m.exec(text)?.[1]);
  expect(free).toBeGreaterThan(2 * fileBytes);
});

test("the process is reported by the names that dashboards know", async () => {
  const before = Date.now() / 1000;
  const url = await start({ LOG_LEVEL: "silent" }).listening();
  const values = async () => {
    const text = await read(url);
    return (name: string) => Number(new RegExp(`^process_${name} (\\S+)$`, "m").exec(text)?.[1]);
  };
  const [first, second] = [await values(), await values()];
  expect(first("start_time_seconds")).toBeWithin(before - 1, Date.now() / 1000);
  expect(second("start_time_seconds")).toBe(first("start_time_seconds"));
  expect(first("resident_memory_bytes")).toBeGreaterThan(10_000_000);
  expect(first("cpu_seconds_total")).toBeGreaterThan(0);
  expect(second("cpu_seconds_total")).toBeGreaterThanOrEqual(first("cpu_seconds_total"));
  if (process.platform === "linux") expect(first("open_fds")).toBeGreaterThan(3);
});

needing("promtool").each<[string, Record<string, number>, boolean]>([
  ["old", { leadfile_leads: 5, leadfile_last_backup_age_seconds: 100_000 }, true],
  ["recent", { leadfile_leads: 5, leadfile_last_backup_age_seconds: 80_000 }, false],
  ["missing", { leadfile_leads: 5 }, true],
  ["missing, without a lead to back up,", { leadfile_leads: 0 }, false],
])("promtool accepts the alerts of deploy/, and a backup that is %s gives the right one", (_, metrics, isFiring) => {
  const rule = "LeadfileBackupOld";
  const summary = new RegExp(`alert: ${rule}\\n[^]*?summary: (.*)`).exec(alerts)?.[1] ?? "";
  const series = Object.entries(metrics).map(([name, value]) => {
    return { series: `${name}{instance="one",job="leadfile"}`, values: `${value}x60` };
  });
  const expected = { exp_labels: { instance: "one", job: "leadfile" }, exp_annotations: { summary } };
  const alert = { eval_time: "40m", alertname: rule, exp_alerts: isFiring ? [expected] : [] };
  const file = join(aFolder(), "rules.json");
  const tests = [{ interval: "1m", input_series: series, alert_rule_test: [alert] }];
  writeFileSync(file, JSON.stringify({ rule_files: [alertsFile], tests }));
  const success = { status: 0, stdout: expect.stringContaining("SUCCESS"), stderr: "" };
  expect(runNow("promtool", "test", "rules", file)).toMatchObject(success);
  expect(runNow("promtool", "check", "rules", alertsFile)).toMatchObject(success);
});

test("every metric that the alerts of deploy/ use exists, and the age of the last import does after one", async () => {
  const admin = anAdmin();
  const url = await start({ DATABASE_PATH: admin.file, LOG_LEVEL: "silent" }, admin.folder).listening();
  expect(await read(url)).not.toMatch(/^leadfile_last_import_age_seconds /m);
  await admin.import("email,pixel_id\na@example.com,px\n");
  await fetch(`${url}/healthz`);
  const text = await read(url);
  expect(Number(/^leadfile_last_import_age_seconds (\S+)$/m.exec(text)?.[1])).toBeWithin(0, 300);
  const { groups } = YAML.parse(alerts) as { groups: { rules: { alert: string; expr: string }[] }[] }; // What it is.
  const rules = groups.flatMap(({ rules }) => rules);
  expect(rules.length).toBeGreaterThan(5);
  for (const { alert, expr } of rules) {
    const named = expr.match(/\b(?:leadfile|process)_\w+/g) ?? (alert === "LeadfileDown" ? [] : [`none of ${alert}`]);
    for (const name of named) expect(text).toMatch(new RegExp(`^(?:# TYPE )?${name}[ {]`, "m"));
  }
});

needing("promtool")("Prometheus reads /metrics", async () => {
  const { as, aKey, url } = await serve({ leads: someLeads(1) });
  for (const key of [aKey(), "lf_wrong"]) await as(key).get("/leads");
  const answer = await fetch(`${url}/metrics`);
  expect(answer.headers.get("content-type")).toStartWith("text/plain; version=0.0.4");
  const checked = Bun.spawnSync(["promtool", "check", "metrics"], { stdin: Buffer.from(await answer.text()) });
  expect([checked.exitCode, checked.stdout.toString(), checked.stderr.toString()]).toEqual([0, "", ""]);
});

describe("a request from another machine gets 404:", () => {
  const isLocal = (address: string, host: string) => isFromThisMachine(address, new Headers({ Host: host }));
  test("only a loopback address is this machine", () => {
    const addresses = ["127.0.0.1", "127.8.9.1", "::1", "::ffff:127.0.0.1"];
    const others = ["192.0.2.7", "1.127.0.1", "::ffff:192.0.2.7", "2001:db8::1", "::127"];
    expect([...addresses, ...others].filter((address) => isLocal(address, "localhost:3000"))).toEqual(addresses);
  });

  test("only a loopback name is this machine, because a page of another site may use its own", async () => {
    const names = ["127.0.0.1:3000", "localhost", "[::1]:3000", "LOCALHOST:3000"];
    const others = ["evil.example", "localhost.evil.example", "127.0.0.1.evil.example:3000", "10.0.0.7:3000", ""];
    expect([...names, ...others].filter((name) => isLocal("127.0.0.1", name))).toEqual(names);
    const { send } = await serve();
    expect((await send({ target: "/metrics", host: "rebound.example" })).status).toBe(404);
  });

  test("a header of a proxy means another machine", async () => {
    const { url } = await serve();
    const headers = "X-Forwarded-For X-Forwarded-Proto X-Forwarded-Host X-Forwarded-Port X-Real-IP Forwarded Via";
    for (const header of headers.split(" ")) {
      const { status } = await fetch(`${url}/metrics`, { headers: { [header]: "203.0.113.9" } });
      expect([header, status]).toEqual([header, 404]);
    }
  });

  test.each([
    ["https://leads.example.com", undefined, "", 404],
    ["https://leads.example.com", "secret", "", 404],
    ["https://leads.example.com", "secret", "Bearer wrong", 404],
    ["https://leads.example.com", "secret", "Bearer secret", 200],
    ["https://leads.example.com", "secret", "bearer  secret", 200],
    ["http://localhost:3000", "secret", "", 200],
    ["http://127.0.0.1:3000", undefined, "Bearer ", 200],
  ])("with BASE_URL=%s and METRICS_TOKEN=%p, a request with %p gets %d", async (baseUrl, token, sent, status) => {
    const { url } = await serve({ baseUrl, ...(token === undefined ? {} : { metricsToken: token }) });
    // As `proxy_pass http://127.0.0.1:3000` alone sends it for every client.
    const answer = await fetch(`${url}/metrics`, { headers: sent === "" ? {} : { Authorization: sent } });
    expect([answer.status, answer.status === 200 || (await answer.text()).includes("METRICS_TOKEN")]).toEqual([
      status,
      true,
    ]);
  });

  test("the token opens the metrics to other hosts and through a proxy, and is in no message", async () => {
    const { send, logged } = await serve({ metricsToken: "a-long-secret" });
    const headers = { Authorization: "Bearer a-long-secret", "X-Forwarded-For": "203.0.113.9" };
    expect((await send({ target: "/metrics", host: "leads.example.com", headers })).status).toBe(200);
    const wrong = await send({ target: "/metrics", host: "leads.example.com" });
    expect(wrong.body + logged.join("")).not.toContain("a-long-secret");
  });

  const outside = Object.values(networkInterfaces())
    .flatMap((addresses) => addresses ?? [])
    .find(({ family, internal }) => family === "IPv4" && !internal)?.address;

  unless(outside === undefined ? "no other address here" : null).each([
    ["private", 404],
    ["public", 200],
  ])("with METRICS=%s a client at another address gets %p", async (METRICS, status) => {
    const { port } = new URL(await start({ HOST: "0.0.0.0", METRICS }).listening());
    expect((await fetch(`http://127.0.0.1:${port}/metrics`)).status).toBe(200);
    expect((await fetch(`http://${outside}:${port}/metrics`)).status).toBe(status);
  });
});
