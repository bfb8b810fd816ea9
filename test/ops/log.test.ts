/** The log: one JSON line per request, without secrets and personal data. */
import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { join } from "node:path";
import { getTableName } from "drizzle-orm";
import { createKey } from "../../src/contract/key.ts";
import { setSubscription } from "../../src/db/accounts.ts";
import { leads } from "../../src/db/schema.ts";
import { aLead, noonMs } from "../support/builders.ts";
import { eventually } from "../support/eventually.ts";
import { aFolder } from "../support/folder.ts";
import { aFreePort } from "../support/free-port.ts";
import { serve } from "../support/harness.ts";
import { start } from "../support/process.ts";
import { startOnTerminal } from "../support/terminal.ts";

const main = join(import.meta.dir, "../../src/main.ts");

test("a request is one line of JSON with method, path, status, duration, key prefix, and request ID", async () => {
  const { as, aKey, send, logged } = await serve();
  const key = aKey();
  const tried = createKey();
  const leads = (await as(key).get("/leads?limit=5")).headers.get("x-request-id");
  const [docs, openApi] = [await send({ target: "/docs" }), await send({ target: "/openapi.json" })];
  await as(tried).get("/leads");
  await send({ target: `/${"x".repeat(5_000)}` });
  const request = { level: 30, method: "GET", path: "/api/v1/leads", status: 200 };
  expect(logged.map((line) => JSON.parse(line))).toMatchObject([
    { ...request, us: expect.any(Number), key: key.slice(0, 8), id: leads },
    { path: "/docs", id: docs.headers.get("x-request-id") },
    { path: "/openapi.json", id: openApi.headers.get("x-request-id") },
    { status: 401, code: "invalid_api_key" },
    { status: 404 },
  ]);
  expect(logged.join("")).not.toContain(tried.slice(3, 20));
  expect((logged.at(-1) ?? "").length).toBeLessThan(600);
});

test("no key, query, or value of a lead is logged", async () => {
  const person = { name: "Dana Whitfield", email: "dana@example.com", phone: "15550142", city: "Zzyzx" };
  const { send, aKey, aRevokedKey, logged, database, account } = await serve({ leads: [aLead(person)] });
  const keys = [aKey(), aRevokedKey(), createKey()];
  const query = "?city=Zzyzx&before=2027-01-01T00:00:00Z";
  for (const key of keys) {
    const ofClient = { "User-Agent": "dana@example.com", Referer: "https://dana@example.com" };
    const headers = { Authorization: `Bearer ${key}`, ...ofClient };
    const targets = [`/api/v1/leads${query}`, "/api/v1/leads?city=", `/api/v1/${key}`, `/docs/${key}`];
    // The first half of a key, and a key without its prefix.
    targets.push(`/${key.slice(0, 20)}`, `/${key.slice(3)}`);
    for (const target of [...targets, "/api/v1/leads/dana@example.com", "/dana%40example.com", `/?key=${key}`]) {
      await send({ target, headers });
      await send({ target, headers, method: "POST" });
    }
  }
  await setSubscription(database, account, false, noonMs);
  await send({ target: `/api/v1/leads${query}`, headers: { Authorization: `Bearer ${keys[0]}` } });
  const log = logged.join("");
  expect(logged.length).toBeGreaterThan(40);
  for (const key of keys) expect(log).not.toContain(key.slice(8, 20));
  expect(log).not.toMatch(/Zzyzx|dana|15550142|whitfield|2027-01-01/i);
});

test("the error of a failed query is logged without its parameters", async () => {
  const { as, aKey, logged, file } = await serve({ leads: [aLead({ city: "Zzyzx" })] });
  using other = new Database(file);
  other.run(`ALTER TABLE ${getTableName(leads)} RENAME TO gone`);
  expect((await as(aKey()).get("/leads?city=Zzyzx")).status).toBe(500);
  const log = logged.join("");
  expect(log).toContain("no such table");
  expect(log).not.toMatch(/zzyzx|select/i);
});

test("phone numbers in a path are not logged", async () => {
  const { send, logged } = await serve();
  const phones = ["16195550142", "619-555-0142", "+1(619)555.0142", "call-6195550142-now"];
  for (const phone of phones) await send({ target: `/api/v1/leads/${phone}` });
  expect(logged.map((line) => JSON.parse(line))).toMatchObject(
    phones.map(() => ({ path: "/api/v1/leads/…", status: 404 })),
  );
});

test("on a terminal, a request is a readable line without key and query, with a color unless NO_COLOR is set", async () => {
  for (const isColored of [true, false]) {
    const noColor: Record<string, string> = isColored ? {} : { NO_COLOR: "1" };
    const settings = { PORT: "0", DATABASE_PATH: join(aFolder(), "leadfile.db"), ...noColor };
    const terminal = startOnTerminal([process.execPath, main], settings, 200);
    await terminal.seen(/listening on \S+\r/);
    const [, url] = /listening on (\S+)\r/.exec(terminal.shown()) ?? [];
    const key = createKey();
    const answer = await fetch(`${url}/api/v1/leads?city=Zzyzx`, { headers: { Authorization: `Bearer ${key}` } });
    await terminal.seen(/^.*\/api\/v1\/leads.*\r\n/m);
    const [line = ""] = /^.*\/api\/v1\/leads.*(?=\r\n)/m.exec(terminal.shown()) ?? [];
    const request = `GET /api/v1/leads code=invalid_api_key id=${answer.headers.get("x-request-id")}`;
    expect(Bun.stripANSI(line)).toMatch(/^\[\d\d:\d\d:\d\d\]: 401 +\d+ µs /);
    expect(Bun.stripANSI(line)).toEndWith(request);
    expect(line.includes("\u001b")).toBe(isColored);
    for (const unwanted of ["Zzyzx", key.slice(8)]) expect(terminal.shown()).not.toContain(unwanted);
  }
});

test.each(["silent", "trace"])(
  "without a terminal, at LOG_LEVEL=%s, the address is the only line that is no JSON",
  async (LOG_LEVEL) => {
    const server = start({ LOG_LEVEL });
    const url = await server.listening();
    expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
    const paths = ["/healthz", "/api/v1/leads", "/nowhere"];
    for (const path of paths) await fetch(url + path);
    expect(await server.end("SIGTERM")).toBe(0);
    const [first, ...lines] = server.output().trimEnd().split("\n");
    expect(first).toBe(`listening on ${url}`);
    const logged = lines.map((line): { path: string } => JSON.parse(line));
    expect(logged.map(({ path }) => path)).toEqual(LOG_LEVEL === "silent" ? [] : paths);
  },
);

test("if the log cannot be written, as on a full disk, the server still responds, and stops in order", async () => {
  const port = await aFreePort();
  const full = ["sh", "-c", `exec "${process.execPath}" "${main}" > /dev/full 2>&1`];
  const server = start({ PORT: String(port), HOST: "0.0.0.0" }, aFolder(), full);
  const ask = async () => (await fetch(`http://127.0.0.1:${port}/nowhere`)).status;
  await eventually(async () => expect(await ask()).toBe(404));
  // Lines are written together, some thirty at a time.
  for (let asked = 0; asked < 60; asked++) expect(await ask()).toBe(404);
  expect(await server.end("SIGTERM")).toBe(0);
});
