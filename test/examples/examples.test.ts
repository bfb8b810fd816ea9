/** The examples, run as a reader runs them: every lead arrives, over orderly stops and over power cuts. */
import { expect, onTestFinished, test } from "bun:test";
import { createHmac } from "node:crypto";
import { appendFileSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "csv-parse/sync";
import type { Lead } from "../../src/contract/lead.ts";
import { aLead, someLeads } from "../support/builders.ts";
import { until } from "../support/eventually.ts";
import { aFolder } from "../support/folder.ts";
import { serve } from "../support/harness.ts";
import { needing } from "../support/needing.ts";
import { arrived, runExample } from "./example.ts";

interface Case {
  readonly name: string;
  readonly file: string;
  readonly every: string;
  /** The beginning of a record that a power cut may leave. */
  readonly half?: string;
}

const cases: readonly Case[] = [
  { name: "leads-to-csv.ts", file: "leads.csv", every: "50ms", half: '"half a row","' },
  { name: "leads-to-sqlite.ts", file: "copy.db", every: "50ms" },
  { name: "leads_to_ndjson.py", file: "leads.ndjson", every: "0.05", half: '{"id":"half' },
];

test.each(readdirSync(join(import.meta.dir, "../../examples")))(
  "%s says in one line that it needs a key",
  async (name) => {
    const { errors } = runExample(name, [], aFolder(), {});
    expect(await errors).toBe("Set LEADFILE_KEY to an API key.\n");
  },
);

test.each(readdirSync(join(import.meta.dir, "../../examples")))("%s says why it gets no leads", async (name) => {
  const headers = { "Retry-After": "900" };
  const body = { error: { code: "rate_limit_exceeded" } };
  const fetch = () => Response.json(body, { status: 429, headers });
  const server = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch });
  onTestFinished(() => void server.stop(true));
  const folder = aFolder();
  const file = name.includes("webhook") ? "http://127.0.0.1:9" : join(folder, "leads");
  const settings = { LEADFILE_KEY: "lf_0123456789", WEBHOOK_SECRET: "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw" };
  const { said } = runExample(name, [server.url.origin, file], folder, settings);
  await until(() => /again/.test(said()));
});

const python = Bun.which("python3");

for (const { name, file, every, half } of cases) {
  needing(...(name.endsWith(".py") ? ["python3"] : []))(
    `${name} has every lead once, over a power cut and an orderly stop`,
    async () => {
      const leads = [aLead({ name: 'Dana "D", Łódź\nsecond line' }), ...someLeads(8)];
      const { url, aKey, importMore } = await serve({ leads: leads.slice(0, 3) });
      const folder = aFolder();
      const path = join(folder, file);
      const run = () => runExample(name, [url, file, every], folder, { LEADFILE_KEY: aKey() });
      const ids = () => arrived[name]?.(path) ?? [];
      const has = (count: number) => until(() => ids().length === count);
      const first = run();
      await has(3);
      importMore(leads.slice(3, 5));
      await has(5);
      await first.kill();
      if (half !== undefined) appendFileSync(path, half);
      importMore(leads.slice(5, 7));
      const second = run();
      await has(7);
      expect(await second.stop()).toBe(0);
      importMore(leads.slice(7));
      const third = run();
      await has(9);
      expect(await third.stop()).toBe(0);
      expect(ids()).toEqual(leads.map(({ id }) => id));
      expect(await third.errors).toBe("");
    },
  );
}

test("leads-to-csv.ts writes no cell that a spreadsheet would run as a formula", async () => {
  const { url, aKey } = await serve({ leads: [aLead({ name: "=1+1", company: "＠SUM(A1)", city: "-1" })] });
  const folder = aFolder();
  const path = join(folder, "leads.csv");
  const running = runExample("leads-to-csv.ts", [url, path, "50ms"], folder, { LEADFILE_KEY: aKey() });
  await until(() => arrived["leads-to-csv.ts"]?.(path).length === 1);
  expect(await running.stop()).toBe(0);
  expect(parse(readFileSync(path), { columns: true })).toMatchObject([
    { name: "'=1+1", company: "'＠SUM(A1)", city: "'-1" },
  ]);
});

const careful = ["leads-to-csv.ts", ...(python === null ? [] : ["leads_to_ndjson.py"])];

test.each(careful)("%s changes only files that it created", async (name) => {
  const { url, aKey } = await serve({ leads: someLeads(1) });
  const folder = aFolder();
  writeFileSync(join(folder, "mine.txt"), "years of work");
  const running = runExample(name, [url, "mine.txt"], folder, { LEADFILE_KEY: aKey() });
  expect(await running.errors).toContain("without a checkpoint");
  expect(readFileSync(join(folder, "mine.txt"), "utf8")).toBe("years of work");
});

interface Delivery {
  readonly id: string;
  readonly lead: Lead;
  readonly signed: boolean;
}

/** A receiver that checks each lead, and refuses the first ones. */
function aReceiver(secret: Buffer, refusals: number) {
  const taken: Delivery[] = [];
  let left = refusals;
  const receiver = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    async fetch(request) {
      if (left-- > 0) return new Response("not now", { status: 503 });
      const body = await request.text();
      const id = request.headers.get("webhook-id") ?? "";
      const timestamp = request.headers.get("webhook-timestamp") ?? "";
      const wanted = createHmac("sha256", secret).update(`${id}.${timestamp}.${body}`).digest("base64");
      const signed = request.headers.get("webhook-signature") === `v1,${wanted}`;
      taken.push({ id, lead: (JSON.parse(body) as { data: Lead }).data, signed });
      return new Response();
    },
  });
  onTestFinished(() => receiver.stop(true));
  return { taken, url: receiver.url.href };
}

test("leads-to-webhook.ts posts every lead, signed, repeats refused ones, and continues after a stop", async () => {
  const leads = someLeads(4);
  const { url, aKey, importMore } = await serve({ leads: leads.slice(0, 2) });
  const secret = Buffer.from("sixteen bytes and more");
  const { taken, url: hook } = aReceiver(secret, 2);
  const folder = aFolder();
  const settings = { LEADFILE_KEY: aKey(), WEBHOOK_SECRET: `whsec_${secret.toString("base64")}` };
  const run = () => runExample("leads-to-webhook.ts", [url, hook, "50ms"], folder, settings);
  const first = run();
  await until(() => taken.length === 2);
  expect(await first.stop()).toBe(0);
  expect(first.said()).toContain(`${new URL(hook).origin} answered 503. Leads wait until it answers 2xx;`);
  importMore(leads.slice(2));
  const second = run();
  await until(() => new Set(taken.map(({ id }) => id)).size === 4);
  expect(await second.stop()).toBe(0);
  expect([...new Map(taken.map(({ id, lead }) => [id, lead])).values()]).toEqual(leads);
  expect(taken.every(({ signed, id, lead }) => signed && id === lead.id)).toBe(true);
  // The stop may have come before the answer to the last lead was read, and it came again.
  expect(taken.length).toBeLessThanOrEqual(5);
});

test("every example is tested here, and starts with how to run it", () => {
  const folder = join(import.meta.dir, "../../examples");
  const all = readdirSync(folder).toSorted();
  expect(all).toEqual([...cases.map(({ name }) => name), "leads-to-webhook.ts"].toSorted());
  for (const name of all) {
    const head = readFileSync(join(folder, name), "utf8").slice(0, 600);
    expect(head).toContain(`${name.endsWith(".py") ? "python3" : "bun"} examples/${name} https://www.example.com`);
    expect(head).toContain("LEADFILE_KEY=");
  }
});
