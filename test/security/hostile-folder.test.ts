/** A program that holds a key, started in a folder of somebody else: its .env and bunfig.toml choose no proxy and run no code. */
import { expect, test } from "bun:test";
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { answering } from "../support/answering.ts";
import { someLeads } from "../support/builders.ts";
import { aCertificate } from "../support/certificate.ts";
import { until } from "../support/eventually.ts";
import { theExecutable } from "../support/executable.ts";
import { aFolder } from "../support/folder.ts";
import { serve } from "../support/harness.ts";
import { adminCommand, serverCommand, start } from "../support/process.ts";

const root = join(import.meta.dir, "../..");
const [bun = "", admin = ""] = adminCommand;
const options = ["--no-env-file", "--config=/dev/null"];

/** Each way to start a program. Without the options, bun itself runs what a bunfig.toml names, before any program. */
const starts: Readonly<Record<string, { readonly command: () => string[]; readonly takesBunfig?: true }>> = {
  "bun admin.ts": { command: () => [bun, admin], takesBunfig: true },
  "bun with the documented options": { command: () => [bun, ...options, admin] },
  "the executable": { command: () => [theExecutable()] },
};

/** A folder whose owner wants the key, and the proxy to which its .env leads. */
function aTrap() {
  const seen: string[] = [];
  const proxy = answering(async ({ url, headers }) => {
    seen.push(`${url} ${headers.get("authorization")}`);
    return Response.json({});
  });
  const folder = aFolder();
  const names = ["HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy", "ALL_PROXY"];
  const lines = [...names.map((name) => `${name}=${proxy}`), "NODE_TLS_REJECT_UNAUTHORIZED=0", "TRAP=sprung"];
  for (const name of [".env", ".env.local", ".env.development"]) writeFileSync(join(folder, name), lines.join("\n"));
  return {
    folder,
    seen,
    addBunfig() {
      writeFileSync(join(folder, "bunfig.toml"), 'preload = ["./steal.ts"]\n');
      writeFileSync(join(folder, "steal.ts"), 'await Bun.write("stolen", process.env.LEADFILE_KEY ?? "");');
    },
    wasStolen: () => existsSync(join(folder, "stolen")),
  };
}

for (const [how, { command, takesBunfig }] of Object.entries(starts)) {
  for (const name of ["follow", "conformance"]) {
    test(`${name}, started by ${how}, sends its key to the server alone`, async () => {
      const { url, aKey } = await serve({ leads: someLeads(2), limit: 60 });
      const { folder, seen, addBunfig, wasStolen } = aTrap();
      if (takesBunfig === undefined) addBunfig();
      const running = start({ LEADFILE_KEY: aKey() }, folder, [...command(), name, url]);
      await running.said(name === "follow" ? /(?:.+\n){2}/ : / passed, 0 failed/);
      await running.end();
      expect([seen, wasStolen()]).toEqual([[], false]);
    });
  }
}

test("each program of packages/, started as a script, reads nothing of the folder", async () => {
  const { url, aKey } = await serve({ leads: someLeads(2) });
  const { folder, seen, addBunfig, wasStolen } = aTrap();
  addBunfig();
  const script = join(root, "packages/client/program/follow.ts");
  const running = start({ LEADFILE_KEY: aKey() }, folder, [script, url, "--exec", "env >> seen; echo >> taken"]);
  await until(() => existsSync(join(folder, "taken")));
  await running.end();
  expect([seen, wasStolen(), await Bun.file(join(folder, "seen")).text()]).toEqual([
    [],
    false,
    expect.not.stringContaining("TRAP"),
  ]);
  for (const other of ["packages/mcp/src/mcp.ts", "packages/conformance/src/command.ts"]) {
    const { exited, errors } = start({}, folder, [join(root, other), url]);
    expect([await exited, errors(), wasStolen()]).toEqual([2, expect.stringContaining("No key was given"), false]);
  }
});

test("mcp sends its key to the server alone", async () => {
  const { url, aKey } = await serve();
  const { folder, seen } = aTrap();
  const request = (id: number, method: string, params: object) =>
    `${JSON.stringify({ jsonrpc: "2.0", id, method, params })}\n`;
  const client = { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "test", version: "1" } };
  const input = request(1, "initialize", client) + request(2, "tools/call", { name: "usage", arguments: {} });
  const running = start({ LEADFILE_KEY: aKey() }, folder, [...adminCommand, "mcp", url], { input });
  await running.said(/requests_today/);
  await running.end();
  expect(seen).toEqual([]);
});

test("a proxy of the environment counts, as the documentation says", async () => {
  const asked: string[] = [];
  const proxy = answering(({ url }) => {
    asked.push(url);
    return new Response("", { status: 502 });
  });
  const settings = { LEADFILE_KEY: "lf_someKey1", HTTP_PROXY: proxy };
  const running = start(settings, aFolder(), [...adminCommand, "follow", "http://leads.localhost:9"]);
  await until(() => asked.length > 0);
  await running.end();
});

test("certificates are verified, whatever NODE_TLS_REJECT_UNAUTHORIZED says, and NODE_EXTRA_CA_CERTS adds one", async () => {
  const { TLS_CERT, TLS_KEY } = aCertificate({ names: ["localhost"] });
  const page = { object: "list", data: [], has_more: false, next_cursor: null };
  let asked = 0;
  const tls = { cert: Bun.file(TLS_CERT), key: Bun.file(TLS_KEY) };
  const fetch = () => {
    asked += 1;
    return Response.json(page);
  };
  using server = Bun.serve({ hostname: "127.0.0.1", port: 0, tls, fetch });
  const follow = (settings: Record<string, string>) =>
    start({ LEADFILE_KEY: "lf_someKey1", ...settings }, aFolder(), [
      ...adminCommand,
      "follow",
      `https://localhost:${server.port}`,
    ]);
  const refused = follow({ NODE_TLS_REJECT_UNAUTHORIZED: "0" });
  await refused.complained(/SELF_SIGNED|UNABLE_TO_VERIFY/);
  await refused.end();
  expect(asked).toBe(0);
  const trusted = follow({ NODE_EXTRA_CA_CERTS: TLS_CERT });
  await until(() => asked > 0);
  await trusted.end();
});

test("the server takes its settings from .env, and nothing else of it", async () => {
  const folder = aFolder();
  const { seen } = aTrap();
  const lines = ["RATE_LIMIT_PER_MIN=7", "PORT=0", 'BASE_URL="https://leads.example.com"', "DATABASE_PATH=own.db"];
  writeFileSync(join(folder, ".env"), [...lines, "TRAP=sprung", "NODE_TLS_REJECT_UNAUTHORIZED=0"].join("\n"));
  const env = { PATH: process.env["PATH"] ?? "", HOME: folder };
  const child = Bun.spawn([...serverCommand], { cwd: folder, env, stdout: "pipe", stderr: "ignore" });
  const reader = child.stdout.getReader();
  const said = new TextDecoder().decode((await reader.read()).value);
  const [, url = ""] = /listening on (\S+)/.exec(said) ?? [];
  const answer = await fetch(`${url}/api/v1/leads`);
  const { error } = (await answer.json()) as { error: { docs: string } };
  expect([answer.headers.get("x-ratelimit-limit"), error.docs]).toEqual([
    "7",
    "https://leads.example.com/docs#missing_api_key",
  ]);
  child.kill();
  await child.exited;
  expect([existsSync(join(folder, "own.db")), seen]).toEqual([true, []]);
});
