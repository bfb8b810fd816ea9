/** No program that we show loses a lead: each one meets 2,000 of them, and a server that has reached its limit. */
import { expect, onTestFinished, test } from "bun:test";
import { readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Lead } from "../../src/contract/lead.ts";
import { arrived, runExample } from "../examples/example.ts";
import { someLeads } from "../support/builders.ts";
import { aFolder } from "../support/folder.ts";
import { serve } from "../support/harness.ts";
import { programOf } from "./programs.ts";
import { blocksOf } from "./walkthrough.ts";

const root = join(import.meta.dir, "../..");
const count = 2000;
const read = (path: string) => readFileSync(join(root, path), "utf8");

interface Case {
  readonly name: string;
  /** The name of its file. */
  readonly file: string;
  /** The text of the program; without one the file is of examples/. */
  readonly code?: (url: string) => string;
  readonly args?: (url: string) => readonly string[];
  /** The `identified_at` or `id` of each received lead. */
  readonly arrived: (folder: string, printed: string) => readonly string[];
}

const times = (printed: string) => printed.match(/^\d{4}-\d\d-\d\dT[\d:.]+Z/gm) ?? [];
const sum = (printed: string) => Array.from({ length: Number(/^(\d+) leads$/m.exec(printed)?.[1] ?? 0) }, () => "any");
const inFile = (example: string, name: string) => (folder: string) => arrived[example]?.(join(folder, name)) ?? [];

const clientPrograms = blocksOf(read("docs/client.md")).filter(({ info }) => info === "ts");
/** The guide creates the client once, for all programs. */
const theClient = clientPrograms[0]?.text.match(/^[\s\S]*?\n}\);\n/)?.[0] ?? "";
const clientProgram = (words: string) =>
  theClient + (clientPrograms.find(({ text }) => text.includes(words))?.text ?? "");

const cases: readonly Case[] = [
  {
    name: "the pages of /docs in TypeScript",
    file: "pages.ts",
    code: (url) => programOf("Paging", "ts", url),
    arrived: (_, printed) => sum(printed),
  },
  {
    name: "the pages of /docs in Python",
    file: "pages.py",
    code: (url) => programOf("Paging", "python", url),
    arrived: (_, printed) => sum(printed),
  },
  {
    name: "the poller of /docs in TypeScript",
    file: "poller.ts",
    code: (url) => programOf("Polling", "ts", url),
    arrived: (_, printed) => times(printed),
  },
  {
    name: "the poller of /docs in Python",
    file: "poller.py",
    code: (url) => programOf("Polling", "python", url),
    arrived: (_, printed) => times(printed),
  },
  {
    name: "the client's leads.all",
    file: "all.ts",
    code: () => clientProgram("leads.all("),
    arrived: (_, printed) => printed.match(/^[\da-f-]{36} /gm) ?? [],
  },
  {
    name: "the client's leads.follow",
    file: "follow.ts",
    code: () => clientProgram("leads.follow("),
    arrived: (_, printed) => times(printed),
  },
  {
    name: "leads-to-csv.ts",
    file: "leads-to-csv.ts",
    args: (url) => [url, "leads.csv", "50ms"],
    arrived: inFile("leads-to-csv.ts", "leads.csv"),
  },
  {
    name: "leads-to-sqlite.ts",
    file: "leads-to-sqlite.ts",
    args: (url) => [url, "leads.db", "50ms"],
    arrived: inFile("leads-to-sqlite.ts", "leads.db"),
  },
  {
    name: "leads_to_ndjson.py",
    file: "leads_to_ndjson.py",
    args: (url) => [url, "leads.ndjson", "0.05"],
    arrived: inFile("leads_to_ndjson.py", "leads.ndjson"),
  },
];

/** A server of 2,000 leads of the last hour that refuses some requests, as at the limit. */
async function aBusyServer() {
  const firstMs = Date.now() - 3_500_000;
  const leads: Lead[] = someLeads(count).map((lead, n) => ({
    ...lead,
    identified_at: new Date(firstMs + n * 1500).toISOString(),
  }));
  const { url, aKey } = await serve({ leads, nowMs: Date.now() });
  let asked = 0;
  const busy = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    async fetch(request) {
      if (++asked % 15 === 5)
        return Response.json(
          { error: { code: "rate_limit_exceeded" } },
          { status: 429, headers: { "Retry-After": "0" } },
        );
      return fetch(request.url.replace(/^http:\/\/[^/]+/, url), { headers: request.headers });
    },
  });
  onTestFinished(() => busy.stop(true));
  return { url: `http://127.0.0.1:${busy.port}`, key: aKey() };
}

test("leads-to-webhook.ts posts every one of 2,000 leads", async () => {
  const { url, key } = await aBusyServer();
  const posted = new Set<string>();
  const whole = Promise.withResolvers<void>();
  const receiver = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch(request) {
      if (posted.add(request.headers.get("webhook-id") ?? "").size === count) whole.resolve();
      return new Response();
    },
  });
  onTestFinished(() => receiver.stop(true));
  const settings = { LEADFILE_KEY: key, WEBHOOK_SECRET: `whsec_${btoa("sixteen bytes and more")}` };
  const running = runExample("leads-to-webhook.ts", [url, receiver.url.href, "50ms"], aFolder(), settings);
  await whole.promise;
  await running.kill();
  expect(posted.size).toBe(count);
});

test.each(cases)("$name has every one of 2,000 leads, once", async ({ file, code, args, arrived: arrivedIn }) => {
  if (file.endsWith(".py") && Bun.which("python3") === null) return;
  const { url, key } = await aBusyServer();
  const folder = aFolder();
  for (const name of ["node_modules", "tsconfig.json", "packages"]) symlinkSync(join(root, name), join(folder, name));
  if (code !== undefined) writeFileSync(join(folder, file), code(url));
  const path = code === undefined ? join(root, "examples", file) : join(folder, file);
  const child = Bun.spawn([file.endsWith(".py") ? "python3" : process.execPath, path, ...(args?.(url) ?? [])], {
    cwd: folder,
    env: { PATH: process.env["PATH"] ?? "", HOME: folder, LEADFILE_URL: url, LEADFILE_KEY: key },
    stdin: "ignore",
    stdout: "pipe",
    stderr: "inherit",
  });
  let printed = "";
  const reading = (async () => {
    for await (const bytes of child.stdout) printed += new TextDecoder().decode(bytes);
  })();
  while (child.exitCode === null && arrivedIn(folder, printed).length < count) await Bun.sleep(50);
  child.kill("SIGKILL");
  await reading;
  const all = arrivedIn(folder, printed);
  expect(all.length).toBe(count);
  if (all[0] !== "any") expect(new Set(all).size).toBe(count);
});
