/** bun admin mcp, asked by the protocol's own client: three tools that read, and show no person. */
import { describe, expect, onTestFinished, test } from "bun:test";
import { join } from "node:path";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { InMemoryTransport } from "@modelcontextprotocol/sdk/inMemory.js";
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js";
import fc from "fast-check";
import { countTokens as countCl100k } from "gpt-tokenizer/encoding/cl100k_base";
import { countTokens as countO200k } from "gpt-tokenizer/encoding/o200k_base";
import type { Clock } from "../../client/src/clock.ts";
import { masked, revealed } from "../../src/cli/mcp/mask.ts";
import { createToolClient } from "../../src/cli/mcp/mcp.ts";
import { createServer } from "../../src/cli/mcp/server.ts";
import { type Lead, leadFields } from "../../src/contract/lead.ts";
import { aLead, noonMs, someLeads } from "../builders.ts";
import { aLine } from "../client/line.ts";
import { aFolder } from "../folder.ts";
import { serve } from "../harness.ts";

const program = join(import.meta.dir, "../../src/admin.ts");

interface Said {
  readonly text: string;
  readonly isError: boolean;
}

/** The tools without a process, which takes its time to start. */
function anAgent(url: string, key: string, clock?: Clock) {
  const [near, far] = InMemoryTransport.createLinkedPair();
  const client = createToolClient({ baseUrl: url, key, ...(clock === undefined ? {} : { clock }) });
  const server = createServer({ client, show: masked, now: Date.now });
  return connected(near, server.connect(far));
}

/** The program as an agent starts it. */
function aProcess(url: string, key: string, ...options: readonly string[]) {
  const folder = aFolder();
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [program, "mcp", url, ...options],
    env: { PATH: process.env["PATH"] ?? "", HOME: folder, LEADFILE_KEY: key },
    cwd: folder,
  });
  return connected(transport, Promise.resolve());
}

/** The protocol's own client, and a way to call tools. */
async function connected(transport: Transport, ready: Promise<void>) {
  const client = new Client({ name: "a test", version: "1" });
  await ready;
  await client.connect(transport);
  onTestFinished(() => client.close());
  return {
    client,
    async call(name: string, asked: Record<string, unknown> = {}): Promise<Said> {
      const { content, isError } = await client.callTool({ name, arguments: asked });
      const [part] = content as { type: string; text: string }[]; // One text is what every tool gives.
      return { text: part?.text ?? "", isError: isError === true };
    },
  };
}

interface Table {
  readonly columns: string[];
  readonly leads: (string | null)[][];
  readonly has_more: boolean;
  readonly next_before: string | null;
}

const tableOf = ({ text }: Said) => JSON.parse(text) as Table; // What list_leads promises.

/** All pages of a listing. */
async function everyTable({ call }: Awaited<ReturnType<typeof anAgent>>): Promise<{ text: string; table: Table }[]> {
  const pages: { text: string; table: Table }[] = [];
  for (let before: string | null = "2027-01-01T00:00:00Z"; before !== null; ) {
    const said: Said = await call("list_leads", { before });
    const table = tableOf(said);
    pages.push({ text: said.text, table });
    before = table.next_before;
  }
  return pages;
}

/** A lead whose person stands wherever vendors put persons. */
function aTelltale(n: number): Lead {
  const name = `Zefira${n} Quoll${n}`;
  const email = `zefira${n}.quoll@mail${n}.example.org`;
  const phone = `1619555${String(n).padStart(4, "0")}`;
  const path = `/u/${["zefira", "quoll"].map((part) => part + n).join(n % 2 === 0 ? "-" : "%20")}`;
  return aLead({
    name,
    email,
    verified_email: `Z.Quoll${n}@home.example.org`,
    phone,
    company: n % 3 === 0 ? `${name} Ltd` : "Harbor & Pine",
    page_url: `https://zefira${n}:pw@shop.example.com${path}/${encodeURIComponent(email)}?mail=${email}&tok=secret#${phone}`,
    referrer: `https://mail.example.com/${encodeURIComponent(encodeURIComponent(email))}/${phone}?name=${name}`,
    traffic_source: n % 2 === 0 ? `newsletter to ${email}` : `https://ads.example.com/?to=${email}`,
  });
}

const tellsOf = (n: number) => [
  `zefira${n}`,
  `quoll${n}`,
  `mail${n}.example.org`,
  `619555${String(n).padStart(4, "0")}`,
  "home.example.org",
];

test("there are three tools, and each says that it only reads", async () => {
  const { url, aKey } = await serve();
  const { client } = await aProcess(url, aKey());
  const { tools } = await client.listTools();
  expect(tools.map(({ name }) => name).toSorted()).toEqual(["list_leads", "summarize_leads", "usage"]);
  expect(tools.map(({ annotations }) => annotations?.readOnlyHint)).toEqual([true, true, true]);
});

test("no tool shows a person of 1,000 leads, and no answer is too long", async () => {
  const leads = Array.from({ length: 1000 }, (_, n) => aTelltale(n));
  const { url, aKey } = await serve({ leads });
  const agent = await aProcess(url, aKey());
  const pages = await everyTable(agent);
  expect(pages.flatMap(({ table }) => table.leads)).toHaveLength(1000);
  const summary = await agent.call("summarize_leads", {
    since: "2026-01-31T00:00:00Z",
    before: "2026-02-02T00:00:00Z",
  });
  const all = [...pages.map(({ text }) => text), summary.text].join("\n").toLowerCase();
  expect(leads.flatMap((_, n) => tellsOf(n)).filter((tell) => all.includes(tell))).toEqual([]);
  expect(all).not.toContain("tok=");
  for (const { text, table } of pages) {
    expect([countO200k(text), countCl100k(text)].filter((tokens) => tokens > 4000)).toEqual([]);
    expect(table.leads.length).toBeLessThanOrEqual(20);
  }
});

test("twenty ordinary leads are one answer, newest first, with masked persons and addresses without a query", async () => {
  const leads = someLeads(25);
  const { url, aKey } = await serve({ leads });
  const table = tableOf(await (await anAgent(url, aKey())).call("list_leads"));
  const column = (name: string) => table.leads.map((row) => row[table.columns.indexOf(name)]);
  expect(column("id")).toEqual(
    leads
      .toReversed()
      .slice(0, 20)
      .map(({ id }) => id),
  );
  expect(table).toMatchObject({ has_more: true, next_before: leads[5]?.identified_at });
  expect(new Set(column("name"))).toEqual(new Set(["D… W…"]));
  expect(new Set(column("email"))).toEqual(new Set(["d…@e…"]));
  expect(new Set(column("phone"))).toEqual(new Set(["… 42"]));
  expect(new Set(column("page_url"))).toEqual(new Set(["https://shop.example.com/pricing"]));
  expect(table.columns).not.toContain("children");
});

test("--reveal shows persons whole, and still no query", async () => {
  const { url, aKey } = await serve({ leads: [aLead({ phone: "16195550123" })] });
  const { text } = await (await aProcess(url, aKey(), "--reveal")).call("list_leads");
  for (const whole of ["Dana Whitfield", "dana@example.com", "16195550123"]) expect(text).toContain(whole);
  expect(text).not.toContain("plan=team");
});

test("leads that are too long for one answer come in several, cut, each once", async () => {
  const long = "漢字🙂 <|endoftext|> ".repeat(60);
  const leads = Array.from({ length: 40 }, () =>
    aLead({ company: long, city: long, traffic_source: long, gender: long }),
  );
  const { url, aKey } = await serve({ leads });
  const pages = await everyTable(await anAgent(url, aKey()));
  const disallowedSpecial = new Set<string>();
  for (const { text } of pages) expect(countO200k(text, { disallowedSpecial })).toBeLessThan(4000);
  expect(pages.flatMap(({ table }) => table.leads.map(([id]) => id))).toEqual(leads.toReversed().map(({ id }) => id));
});

test("a summary counts by day, pixel, state and source, over its span alone", async () => {
  const at = (day: number, n: number) => `2026-01-${day}T10:00:0${n}.000Z`;
  const leads = [
    aLead({ identified_at: at(10, 0) }),
    aLead({ identified_at: at(11, 0), pixel_id: "px_blog", state: "TX", traffic_source: null }),
    aLead({ identified_at: at(11, 1), state: null }),
    aLead({ identified_at: at(12, 0) }),
  ];
  const { url, aKey } = await serve({ leads });
  const agent = await anAgent(url, aKey());
  const { text } = await agent.call("summarize_leads", { since: at(11, 0), before: at(12, 1) });
  expect(JSON.parse(text)).toEqual({
    since: at(11, 0),
    before: at(12, 1),
    leads: 3,
    missing: null,
    by_day: { "2026-01-11": 2, "2026-01-12": 1 },
    by_pixel: { px_site: 2, px_blog: 1 },
    by_state: { TX: 1, CA: 1, "(none)": 1 },
    by_source: { organic: 2, "(none)": 1 },
  });
  expect(await agent.call("summarize_leads", { since: "2025-01-01T00:00:00Z", before: at(12, 1) })).toMatchObject({
    isError: true,
    text: expect.stringContaining("92 days at most"),
  });
});

test("usage is that of the key, this call included", async () => {
  const { url, aKey } = await serve({ limit: 60 });
  const { text } = await (await anAgent(url, aKey())).call("usage");
  expect(JSON.parse(text)).toMatchObject({ requests_today: 1, rate_limit_per_min: 60 });
});

describe("what goes wrong is a clear answer", () => {
  test("a used up limit says how long to wait", async () => {
    const { url, aKey } = await serve({ limit: 1 });
    const { call } = await anAgent(url, aKey());
    await call("usage");
    expect(await call("usage")).toEqual({
      isError: true,
      text: "The limit of requests per minute is used up (rate_limit_exceeded). Ask again in 60 seconds.",
    });
  });

  test("a summary that meets the limit gives what it counted, and where to go on", async () => {
    const leads = someLeads(250);
    const { url, aKey } = await serve({ leads, limit: 2 });
    const { call } = await anAgent(url, aKey());
    const { text, isError } = await call("summarize_leads", { before: new Date(noonMs).toISOString() });
    const cursor = leads[50]?.identified_at;
    expect(isError).toBe(false);
    expect(JSON.parse(text)).toMatchObject({ leads: 200, missing: expect.stringContaining(`with before ${cursor}`) });
  });

  test("a short wait is waited for", async () => {
    const server = await serve({ leads: someLeads(1) });
    const line = await aLine(server);
    line.faults.push("busy");
    const sleptMs: number[] = [];
    const clock: Clock = { now: Date.now, random: () => 1, sleep: async (ms) => void sleptMs.push(ms) };
    const { call } = await anAgent(line.url, server.aKey(), clock);
    expect(tableOf(await call("list_leads")).leads).toHaveLength(1);
    // What the line asks for.
    expect(sleptMs).toEqual([7_000]);
  });

  test("a revoked key, an unknown pixel, a malformed time and an unknown parameter", async () => {
    const { url, aKey, aRevokedKey } = await serve();
    const revoked = aRevokedKey();
    const said = await (await anAgent(url, revoked)).call("list_leads");
    expect(said).toEqual({ isError: true, text: expect.stringMatching(/revoked.*revoked_api_key.*another key/) });
    expect(said.text).not.toContain(revoked);
    const { call } = await anAgent(url, aKey());
    const cases: [Record<string, unknown>, string][] = [
      [{ pixel_id: "px_none" }, "unknown_pixel"],
      [{ since: "yesterday" }, "since"],
      [{ limit: 21 }, "limit"],
      [{ email: "dana@example.com" }, "email"],
    ];
    for (const [asked, says] of cases) {
      expect(await call("list_leads", asked)).toEqual({ isError: true, text: expect.stringContaining(says) });
    }
  });

  test("without a key it does not start", async () => {
    const child = Bun.spawn([process.execPath, program, "mcp", "http://127.0.0.1:9"], {
      cwd: aFolder(),
      env: { PATH: process.env["PATH"] ?? "" },
      stdin: "ignore",
      stderr: "pipe",
    });
    expect([await child.exited, await child.stderr.text()]).toEqual([2, expect.stringContaining("LEADFILE_KEY")]);
  });
});

test("it ends when its standard input does", async () => {
  const child = Bun.spawn([process.execPath, program, "mcp", "http://127.0.0.1:9"], {
    cwd: aFolder(),
    env: { PATH: process.env["PATH"] ?? "", LEADFILE_KEY: "lf_0123456789" },
    stdin: "ignore",
  });
  expect(await child.exited).toBe(0);
});

test("no text of any lead holds its own name, mailbox or phone once it is masked", () => {
  const word = fc.stringMatching(/^[A-Z][a-z]{3,8}$/);
  const digits = fc.stringMatching(/^[2-9]\d{9}$/);
  const around = fc.constantFrom("/", "-", " ", "+", "%20", "_", ".");
  fc.assert(
    fc.property(word, word, digits, around, fc.constantFrom(...leadFields), (first, last, phone, glue, field) => {
      const email = `${first}${glue === "." ? "." : "_"}${last}@x.example`.toLowerCase();
      const person = { name: `${first} ${last}`, email, phone };
      const hidden = `https://a.example/${first}${glue}${last}/${encodeURIComponent(email)}/${phone}?q=${first}${last}`;
      const lead = aLead({ ...person, page_url: hidden, referrer: hidden, traffic_source: hidden });
      const shown = (masked(field, lead) ?? "").toLowerCase();
      const tells = [`${first}${glue}${last}`, `${first}${last}`, email, phone].map((tell) => tell.toLowerCase());
      expect(tells.filter((tell) => shown.includes(tell))).toEqual([]);
      expect(revealed(field, lead) ?? "").not.toContain("?q=");
    }),
  );
});
