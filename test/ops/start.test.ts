/** Starting and stopping the server, as its owner sees it. */
import { Database } from "bun:sqlite";
import { describe, expect, onTestFinished, test } from "bun:test";
import { existsSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { dirname, join } from "node:path";
import { openAdminStore } from "../../src/sqlite/admin-store.ts";
import { aFolder } from "../folder.ts";
import { aKey, anAccount, client } from "../harness.ts";
import { start } from "../process.ts";

/** A key in the file of a server that is not running yet. */
function keyIn(file: string): string {
  const store = openAdminStore(file);
  const { secret } = aKey(store, anAccount(store));
  store.close();
  return secret;
}

const requestsIn = (file: string): number => {
  using database = new Database(file);
  return database.query<{ sum: number }, []>("SELECT coalesce(sum(requests), 0) AS sum FROM usage").get()?.sum ?? -1;
};

test.each(["silent", "fatal", "info", "trace"])(
  "at LOG_LEVEL=%s the address is one line of its own",
  async (LOG_LEVEL) => {
    const server = start({ LOG_LEVEL });
    const url = await server.listening();
    expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
    expect((await fetch(`${url}/healthz`)).status).toBe(200);
    expect(server.output().match(/^listening on /gm)).toHaveLength(1);
  },
);

test("a first start makes the file and says what to do next, and a later one does not", async () => {
  const first = start();
  await first.listening();
  expect(await first.end("SIGTERM")).toBe(0);
  expect(first.errors()).toContain("bun admin account create");
  const file = join(first.folder, "data/leadfile.db");
  expect(existsSync(file)).toBe(true);
  const modes = readdirSync(dirname(file)).map((name) => statSync(join(dirname(file), name)).mode & 0o777);
  expect(new Set(modes)).toEqual(new Set([0o600]));
  keyIn(file);
  const second = start({}, first.folder);
  await second.listening();
  expect(await second.end("SIGTERM")).toBe(0);
  expect(second.errors()).toBe("");
});

test("settings are read from .env as well", async () => {
  const folder = aFolder();
  writeFileSync(join(folder, ".env"), "DATABASE_PATH=elsewhere.db\nRATE_LIMIT_PER_MIN=7\n");
  const server = start({}, folder);
  const answer = await fetch(`${await server.listening()}/api/v1/usage`);
  expect(answer.headers.get("x-ratelimit-limit")).toBe("7");
  expect(existsSync(join(folder, "elsewhere.db"))).toBe(true);
});

test("a port that is in use stops the start with one line and status 1", async () => {
  const taken = createServer();
  const port = await new Promise<number>((resolve) => {
    taken.listen(0, "127.0.0.1", () => {
      const address = taken.address();
      resolve(typeof address === "object" && address !== null ? address.port : 0);
    });
  });
  const server = start({ PORT: String(port) });
  expect(await server.exited).toBe(1);
  expect(server.output()).toBe("");
  expect(server.errors()).toMatch(new RegExp(`^[^\\n]*${port}[^\\n]*PORT[^\\n]*\\n$`));
  await new Promise((resolve) => taken.close(resolve));
});

describe("listening where other machines can reach it", () => {
  const warning = /^Warning: .*TLS.*\n/m;

  test("is warned of without TLS and without a trusted proxy", async () => {
    const server = start({ HOST: "0.0.0.0" });
    await server.listening();
    await server.end("SIGTERM");
    expect(server.errors()).toMatch(warning);
  });

  test.each<Record<string, string>>([
    { HOST: "0.0.0.0", TRUST_PROXY: "1" },
    { HOST: "127.0.0.2" },
    { HOST: "localhost" },
  ])("is not warned of with %j", async (settings) => {
    const server = start(settings);
    await server.listening();
    await server.end("SIGTERM");
    expect(server.errors()).not.toMatch(warning);
  });
});

test("usage that could not be written is tried again, and said in the log", async () => {
  const file = join(aFolder(), "leadfile.db");
  const key = keyIn(file);
  const server = start({ DATABASE_PATH: file });
  const { get } = client(await server.listening(), { Authorization: `Bearer ${key}` });
  using other = new Database(file);
  other.run("PRAGMA busy_timeout = 5000");
  other.run("ALTER TABLE usage RENAME TO gone");
  await get("/leads");
  await server.said(/usage could not be written/);
  other.run("ALTER TABLE gone RENAME TO usage");
  const deadlineMs = performance.now() + 5_000;
  while (requestsIn(file) < 1 && performance.now() < deadlineMs) await Bun.sleep(20);
  expect(requestsIn(file)).toBe(1);
});

describe("a stop", () => {
  /** A server with a request that it cannot write down, because another program has begun to write. */
  async function whileOtherWrites() {
    const file = join(aFolder(), "leadfile.db");
    const key = keyIn(file);
    const server = start({ DATABASE_PATH: file, LOG_LEVEL: "silent" });
    const { get } = client(await server.listening(), { Authorization: `Bearer ${key}` });
    const other = new Database(file);
    onTestFinished(() => other.close());
    other.run("BEGIN IMMEDIATE");
    expect((await get("/usage")).status).toBe(200);
    // By then the server has tried, and has been turned away.
    await Bun.sleep(1_500);
    return { file, server, other };
  }

  test.each(["SIGTERM", "SIGINT"] as const)(
    "by %s writes the usage, folds the log into the file, exits 0",
    async (signal) => {
      const file = join(aFolder(), "leadfile.db");
      const key = keyIn(file);
      const server = start({ DATABASE_PATH: file });
      const { get } = client(await server.listening(), { Authorization: `Bearer ${key}` });
      for (let request = 0; request < 5; request++) expect((await get("/usage")).status).toBe(200);
      expect(await server.end(signal)).toBe(0);
      expect(Bun.file(`${file}-wal`).size).toBe(0);
      expect(requestsIn(file)).toBe(5);
      const again = start({ DATABASE_PATH: file });
      const usage = await client(await again.listening(), { Authorization: `Bearer ${key}` }).get("/usage");
      expect(usage.body.requests_today).toBe(6);
    },
  );

  test("gives no wrong answer to requests that come meanwhile", async () => {
    const file = join(aFolder(), "leadfile.db");
    const key = keyIn(file);
    const server = start({ DATABASE_PATH: file });
    const { get } = client(await server.listening(), { Authorization: `Bearer ${key}` });
    const answers = Array.from({ length: 30 }, () => get("/leads"));
    const settled = Promise.allSettled(answers);
    await Promise.race(answers);
    expect(await server.end("SIGTERM")).toBe(0);
    const given = (await settled).flatMap((answer) => (answer.status === "fulfilled" ? [answer.value.status] : []));
    expect(new Set(given)).toEqual(new Set([200]));
    expect(requestsIn(file)).toBeGreaterThanOrEqual(given.length);
  });

  test("after the file was broken under the server still ends at once and without a stack trace", async () => {
    const file = join(aFolder(), "leadfile.db");
    const key = keyIn(file);
    const server = start({ DATABASE_PATH: file });
    const { get } = client(await server.listening(), { Authorization: `Bearer ${key}` });
    await get("/usage");
    writeFileSync(file, "overwritten by something else");
    expect((await get("/usage")).status).toBe(500);
    await server.end("SIGTERM");
    expect(server.errors()).not.toMatch(/\n\s+at |insert into/i);
  });

  test("waits for another program that writes, and then writes the usage", async () => {
    const { file, server, other } = await whileOtherWrites();
    const ended = server.end("SIGTERM");
    await Bun.sleep(1_000);
    other.run("COMMIT");
    expect([await ended, server.errors()]).toEqual([0, ""]);
    expect(requestsIn(file)).toBe(1);
  });

  test("by a kill loses at most what was counted in the last second", async () => {
    const file = join(aFolder(), "leadfile.db");
    const key = keyIn(file);
    const server = start({ DATABASE_PATH: file });
    const { get } = client(await server.listening(), { Authorization: `Bearer ${key}` });
    await get("/usage");
    const deadlineMs = performance.now() + 3_000;
    while (requestsIn(file) < 1 && performance.now() < deadlineMs) await Bun.sleep(20);
    await server.end("SIGKILL");
    expect(requestsIn(file)).toBe(1);
  });
});
