/** Leadfile conforms to the specification, and a server that does not is caught, whatever the one thing is. */
import { expect, test } from "bun:test";
import { join } from "node:path";
import { conform, type Report } from "../../../packages/conformance/src/conform.ts";
import { paths as checkedPaths, lead, limitPerMin } from "../../../packages/conformance/src/specification.ts";
import { leadFields } from "../../../src/contract/lead.ts";
import { defaultLimitPerMin } from "../../../src/contract/limits.ts";
import { paths } from "../../../src/contract/paths.ts";
import { anAdmin } from "../../support/admin.ts";
import { answering } from "../../support/answering.ts";
import { aLead } from "../../support/builders.ts";
import { serve } from "../../support/harness.ts";
import { broken, brokenLimits, proxyOf, type Reply } from "./breaks.ts";

/** Enough of everything: three pixels, states and cities, with and without an e-mail. */
const leads = Array.from({ length: 130 }, (_, n) =>
  aLead({
    pixel_id: `px_${n % 3}`,
    state: ["CA", "NY", null][n % 3] ?? null,
    city: ["San Diego", "New York", "Łódź", null][n % 4] ?? null,
    email: n % 2 === 0 ? "dana@example.com" : null,
  }),
);

type Server = Awaited<ReturnType<typeof serve>>;

/** Runs every check; a wait moves the server's clock. */
async function check(url: string, server: Server, { limits = false } = {}): Promise<Report> {
  const unsubscribed = server.aKey(server.anAccount({ active: false }));
  const keys = { live: server.aKey(), revoked: server.aRevokedKey(), unsubscribed };
  const sleep = async (ms: number) => {
    server.clock.nowMs += ms;
  };
  return conform(url, keys, limits, { sleep, say: () => undefined });
}

const verdicts = (report: Report, verdict: string) =>
  report.checks.filter((made) => made.verdict === verdict).map(({ title, reason }) => `${title}: ${reason}`);

test("Leadfile conforms, and every check runs", async () => {
  const server = { url: "" };
  const { port } = proxyOf(server);
  const url = `http://www.localhost:${port}`;
  const leadfile = await serve({ leads, limit: 60, baseUrl: url });
  server.url = leadfile.url;
  const report = await check(url, leadfile, { limits: true });
  expect(verdicts(report, "failed")).toEqual([]);
  expect(verdicts(report, "skipped")).toEqual([
    "the address is HTTPS: a loopback address may be plain HTTP",
    "internal_error and query_failed answer a failure of the server: a failure of the server cannot be caused from outside",
  ]);
  expect(report.passed).toBeGreaterThan(40);
});

test.each(Object.entries(broken))("fails a server if %s", async (_, [change, caught]) => {
  const server = await serve({ leads, limit: 60 });
  const report = await check(proxyOf(server, change).origin, server);
  expect(verdicts(report, "failed").join("\n")).toContain(caught);
});

test.each(Object.entries(brokenLimits))("with --limits, fails a server if %s", async (_, change) => {
  const server = await serve({ leads, limit: 60 });
  const report = await check(proxyOf(server, change).origin, server, { limits: true });
  expect(verdicts(report, "failed").join("\n")).toContain("the request past the limit");
});

test("fails a redirect with another status or target", async () => {
  for (const tell of [
    (reply: Reply) => void (reply.status === 308 && (reply.status = 302)),
    ({ headers }: Reply) => void (headers.has("location") && headers.set("Location", "http://www.localhost/")),
  ]) {
    const server = { url: "" };
    const url = `http://www.localhost:${proxyOf(server, { tell }).port}`;
    const leadfile = await serve({ baseUrl: url });
    server.url = leadfile.url;
    expect(verdicts(await check(url, leadfile), "failed").join("\n")).toContain("the bare domain answers 308");
  }
});

test("an account without leads skips the checks that need leads", async () => {
  const server = await serve({ limit: 60 });
  const report = await check(server.url, server);
  expect(verdicts(report, "failed")).toEqual([]);
  expect(verdicts(report, "skipped").join("\n")).toContain("the account has 0 leads");
});

test("the checks use the names and numbers of the contract without importing it", async () => {
  const actual = [checkedPaths, Object.keys(lead.shape), limitPerMin];
  expect<unknown>(actual).toEqual([paths, leadFields, defaultLimitPerMin]);
  const folder = join(import.meta.dir, "../../../packages/conformance/src");
  for (const file of new Bun.Glob("*.ts").scanSync(folder)) {
    if (file === "command.ts") continue;
    const imported = [...(await Bun.file(join(folder, file)).text()).matchAll(/ from "([^"]+)"/g)];
    expect(imported.filter(([, from]) => !from?.startsWith(".") && from !== "zod")).toEqual([]);
  }
});

/** A server that gives every request the same answer. */
function aStubbornServer(status: number, headers: Record<string, string>) {
  const requests: string[] = [];
  const body = { error: { code: "rate_limit_exceeded", message: "Wait.", docs: "https://www.example.com/docs" } };
  const url = answering((request) => {
    requests.push(request.url);
    return Response.json(body, { status, headers });
  });
  return { url, requests };
}

test.each([
  ["always answers 429", 429, { "Retry-After": "60" }, 1],
  ["always answers 429 at the end of an hour", 429, { "Retry-After": "3600", "X-RateLimit-Reset": "99999999999" }, 1],
  ["always has no request left", 200, { "X-RateLimit-Limit": "60", "X-RateLimit-Remaining": "0" }, 0],
])("a server that %s is checked within one minute of waiting", async (_, status, headers, waits) => {
  const { url, requests } = aStubbornServer(status, headers);
  const slept: number[] = [];
  const keys = { live: "lf_someKey1", revoked: null, unsubscribed: null };
  const sleep = async (ms: number) => void slept.push(ms);
  const report = await conform(url, keys, false, { sleep, say: () => undefined });
  expect(report.failed).toBeGreaterThan(20);
  expect(slept).toEqual(Array(waits).fill(60_000));
  expect(requests.length).toBeLessThan(100);
});

test("each package runs as a program and ends with its status", () => {
  const root = join(import.meta.dir, "../../..");
  for (const program of ["conformance/src/command.ts", "client/program/follow.ts", "mcp/src/mcp.ts"]) {
    const words = [process.execPath, join(root, "packages", program), "http://127.0.0.1:9/?x=1"];
    const ended = Bun.spawnSync(words, { env: { LEADFILE_KEY: "lf_someKey1" }, stdin: "ignore" });
    expect(ended.exitCode).toBe(2);
    expect(ended.stderr.toString().trim().split("\n")).toHaveLength(1);
  }
});

test("bun admin conformance reads the key from standard input or LEADFILE_KEY, fits 80 columns, and ends with 0", async () => {
  const { url, aKey, aRevokedKey } = await serve({ leads, limit: 60, nowMs: Date.now() });
  const [key, revoked] = [aKey(), aRevokedKey()];
  const ended = await anAdmin().give(`${key}\n${revoked}\n`, "conformance", url);
  expect(ended.stderr.replace(/^The requests of this minute.*\n/gm, "")).toBe("");
  expect(ended.status).toBe(0);
  expect(ended.stdout).toMatch(/\d+ passed, 0 failed, \d+ skipped\.\n$/);
  expect(ended.stdout).toContain("ok       §3    a revoked key is refused");
  expect(Math.max(...ended.stdout.split("\n").map((line) => line.length))).toBeLessThanOrEqual(80);
  expect(ended.stdout).not.toContain(key.slice(3));
  const json = await anAdmin([], { LEADFILE_KEY: aKey() }).run("conformance", url, "--json");
  expect(json.json).toMatchObject({ url, failed: 0 });
});

test("bun admin conformance ends with 1 if a check fails", async () => {
  const server = await serve({ leads, limit: 60, nowMs: Date.now() });
  const [change] = broken["a lead lacks a field"] ?? [{}];
  const failed = await anAdmin().give(server.aKey(), "conformance", proxyOf(server, change).origin);
  expect([failed.status, failed.stdout]).toEqual([1, expect.stringContaining("a lead: referrer: Invalid input")]);
});

test.each([
  ["there is no key", "", "", 2, "No key was given."],
  ["the address is none", "lf_someKey1", "www.example.com", 2, "URL takes an address"],
  ["the key is none", "lf_someKey1", "", 1, "The key does not work: This API key does not exist."],
  ["the key cannot be one", "lf_some Key1", "", 2, "A key contains an invalid character"],
  ["a key after it cannot be one", "lf_someKey1\nlf_some Key2", "", 2, "A key contains an invalid character"],
  ["the server is not there", "lf_someKey1", "http://127.0.0.1:9", 1, "http://127.0.0.1:9 could not be reached, or"],
])("if %s, it says so in one line and checks nothing", async (_, keys, address, status, said) => {
  const { url } = await serve({ leads });
  const ended = await anAdmin().give(keys, "conformance", address || url);
  expect(ended).toMatchObject({ status, stdout: "" });
  expect(ended.stderr.replace(url, "URL")).toStartWith(said);
  expect(ended.stderr.split("\n")).toHaveLength(2);
  expect(ended.stderr).not.toContain("lf_");
});
