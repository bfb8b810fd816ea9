/** Starting the server, as its owner sees it. */
import { describe, expect, test } from "bun:test";
import { closeSync, existsSync, openSync, readdirSync, statSync, writeFileSync, writeSync } from "node:fs";
import { createServer } from "node:net";
import { dirname, join } from "node:path";
import { aFolder } from "../support/folder.ts";
import { start } from "../support/process.ts";
import { keyIn } from "./running.ts";

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
  const file = join(first.folder, "data/leadfile.db");
  // The path tells whoever set a wrong one, or started it in a wrong folder.
  expect(first.errors()).toMatch(/^There is no account in \S+ yet\. In another terminal: bun admin account create/);
  expect(first.errors()).toContain(` ${file} `);
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

test("a file that is damaged stops the start with one line that names the way back", async () => {
  const first = start();
  await first.listening();
  await first.end("SIGTERM");
  const file = join(first.folder, "data/leadfile.db");
  // All but the first page, which tells what the file is.
  const size = statSync(file).size;
  const descriptor = openSync(file, "r+");
  writeSync(descriptor, Buffer.alloc(size - 8192, 0xa5), 0, size - 8192, 8192);
  closeSync(descriptor);
  const second = start({}, first.folder);
  expect(await second.exited).toBe(1);
  expect(second.errors()).toMatch(/^\S+ is damaged \([^\n]+bun admin restore FILE[^\n]+\n$/);
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

test("a host that is not of this machine stops the start with one line and status 2", async () => {
  const server = start({ HOST: "nosuch.invalid", TRUST_PROXY: "1" });
  expect(await server.exited).toBe(2);
  expect(server.errors()).toMatch(/^HOST is "nosuch.invalid", but it takes [^\n]+\n$/);
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
