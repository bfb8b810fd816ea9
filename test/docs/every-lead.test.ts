/** No program that we show loses a lead: each one meets 2,000 of them, and a server that has reached its limit. */
import { expect, onTestFinished, test } from "bun:test";
import { readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Lead } from "../../src/contract/lead.ts";
import { arrived, runExample } from "../examples/example.ts";
import { someLeads } from "../support/builders.ts";
import { until } from "../support/eventually.ts";
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

const clientPrograms = blocksOf(read("docs/client.md")).filter(({ info }) => info === "ts");
/** The guide creates the client once, for all programs. */
const theClient = clientPrograms[0]?.text.match(/^[\s\S]*?\n}\);\n/)?.[0] ?? "";

/** What each kind of program prints of its leads: how many there were, the time of each, or the ID of each. */
const printed = {
  sum: (text: string) => Array.from({ length: Number(/^(\d+) leads$/m.exec(text)?.[1] ?? 0) }, () => "any"),
  times: (text: string) => text.match(/^\d{4}-\d\d-\d\dT[\d:.]+Z/gm) ?? [],
  ids: (text: string) => text.match(/^[\da-f-]{36} /gm) ?? [],
};

const ofPage = (heading: string, language: "ts" | "python", how: keyof typeof printed): Case => ({
  name: `the program under ${heading} of /docs in ${language}`,
  file: language === "ts" ? "program.ts" : "program.py",
  code: (url) => programOf(heading, language, url),
  arrived: (_, text) => printed[how](text),
});

const ofClient = (call: string, how: keyof typeof printed): Case => ({
  name: `the client's ${call}`,
  file: "program.ts",
  code: () => theClient + (clientPrograms.find(({ text }) => text.includes(`${call}(`))?.text ?? ""),
  arrived: (_, text) => printed[how](text),
});

const example = (file: string, output: string, every: string): Case => ({
  name: file,
  file,
  args: (url) => [url, output, every],
  arrived: (folder) => arrived[file]?.(join(folder, output)) ?? [],
});

const cases: readonly Case[] = [
  ofPage("Paging", "ts", "sum"),
  ofPage("Paging", "python", "sum"),
  ofPage("Polling", "ts", "times"),
  ofPage("Polling", "python", "times"),
  ofClient("leads.all", "ids"),
  ofClient("leads.follow", "times"),
  example("leads-to-csv.ts", "leads.csv", "50ms"),
  example("leads-to-sqlite.ts", "leads.db", "50ms"),
  example("leads_to_ndjson.py", "leads.ndjson", "0.05"),
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
  let said = "";
  const reading = (async () => {
    for await (const bytes of child.stdout) said += new TextDecoder().decode(bytes);
  })();
  await until(() => child.exitCode !== null || arrivedIn(folder, said).length >= count, 50);
  child.kill("SIGKILL");
  await reading;
  const all = arrivedIn(folder, said);
  expect(all.length).toBe(count);
  if (all[0] !== "any") expect(new Set(all).size).toBe(count);
});
