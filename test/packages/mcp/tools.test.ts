/** bun admin mcp: four tools that read, their results, and what they say if the server refuses. */
import { describe, expect, test } from "bun:test";
import { countTokens as countCl100k } from "gpt-tokenizer/encoding/cl100k_base";
import { countTokens as countO200k } from "gpt-tokenizer/encoding/o200k_base";
import type { Clock } from "../../../packages/client/src/time.ts";
import { states } from "../../../src/contract/states.ts";
import { revokeKey } from "../../../src/db/keys.ts";
import { anAdmin } from "../../support/admin.ts";
import { answering } from "../../support/answering.ts";
import { aLead, noonMs, someLeads } from "../../support/builders.ts";
import { aFolder } from "../../support/folder.ts";
import { serve } from "../../support/harness.ts";
import { adminCommand, start } from "../../support/process.ts";
import { aLine } from "../client/line.ts";
import { anAgent, anAgentOf, aProcess, everyTable, tableOf } from "./agent.ts";

test("there are four tools, and each says that it only reads", async () => {
  const { url, aKey } = await serve();
  const { client } = await aProcess(url, aKey());
  const { tools } = await client.listTools();
  expect(tools.map(({ name }) => name).toSorted()).toEqual(["list_leads", "list_pixels", "summarize_leads", "usage"]);
  expect(tools.map(({ annotations }) => annotations?.readOnlyHint)).toEqual([true, true, true, true]);
});

test.each([
  ["漢字🙂 <|endoftext|> ", countO200k],
  ["newsletter 7/2026 ", countCl100k],
])("leads that are too long for one response come in several, shortened, each once: %s", async (text, countTokens) => {
  const long = text.repeat(60);
  const leads = Array.from({ length: 40 }, () =>
    aLead({ company: long, city: long, traffic_source: long, gender: long }),
  );
  const pages = await everyTable(await anAgentOf({ leads }));
  const disallowedSpecial = new Set<string>();
  for (const { text } of pages) expect(countTokens(text, { disallowedSpecial })).toBeLessThan(4000);
  expect(pages.flatMap(({ table }) => table.leads.map(([id]) => id))).toEqual(leads.toReversed().map(({ id }) => id));
});

test("a summary counts by day, pixel, page, state, and source within its period", async () => {
  const at = (day: number, n: number) => `2026-01-${day}T10:00:0${n}.000Z`;
  const leads = [
    aLead({ identified_at: at(10, 0) }),
    aLead({ identified_at: at(11, 0), pixel_id: "px_blog", state: "TX", traffic_source: null }),
    aLead({ identified_at: at(11, 1), state: null, page_url: "https://shop.example.com/pricing?plan=2" }),
    aLead({ identified_at: at(12, 0), page_url: "https://shop.example.com/" }),
  ];
  const agent = await anAgentOf({ leads });
  const { text } = await agent.call("summarize_leads", { since: at(11, 0), before: at(12, 1) });
  expect(JSON.parse(text)).toEqual({
    since: at(11, 0),
    before: at(12, 1),
    leads: 3,
    missing: null,
    by_day: { "2026-01-11": 2, "2026-01-12": 1 },
    by_pixel: { px_site: 2, px_blog: 1 },
    by_page: { "https://shop.example.com/pricing": 2, "https://shop.example.com/": 1 },
    by_state: { TX: 1, CA: 1, "(none)": 1 },
    by_source: { organic: 2, "(none)": 1 },
  });
  expect(await agent.call("summarize_leads", { since: "2025-01-01T00:00:00Z", before: at(12, 1) })).toMatchObject({
    isError: true,
    text: expect.stringContaining("92 days at most"),
  });
});

test("which companies came from Texas on a day is one call, and so is each other breakdown", async () => {
  const at = (day: number, n: number) => `2026-01-${day}T10:00:0${n}.000Z`;
  const leads = [
    aLead({ identified_at: at(10, 0), state: "TX", company: "Early Bird" }),
    aLead({ identified_at: at(11, 0), state: "TX", company: "Harbor & Pine", city: "Austin" }),
    aLead({ identified_at: at(11, 1), state: "TX", company: "Harbor & Pine", pixel_id: "px_blog" }),
    aLead({ identified_at: at(11, 2), state: "TX", company: null }),
    aLead({ identified_at: at(11, 3), state: "CA", company: "Elsewhere" }),
    aLead({ identified_at: at(12, 0), state: "TX", company: "Latecomer" }),
  ];
  const { call } = await anAgentOf({ leads });
  const day = { since: "2026-01-11", before: "2026-01-12" };
  const { text } = await call("summarize_leads", { by: "company", state: "TX", ...day });
  expect(JSON.parse(text)).toEqual({
    since: "2026-01-11T00:00:00.000Z",
    before: "2026-01-12T00:00:00.000Z",
    leads: 3,
    missing: null,
    by_company: { "Harbor & Pine": 2, "(none)": 1 },
  });
  const asked = async (by: string) => JSON.parse((await call("summarize_leads", { by, ...day })).text)[`by_${by}`];
  expect(await asked("city")).toEqual({ "San Diego": 3, Austin: 1 });
  expect(await asked("state")).toEqual({ TX: 3, CA: 1 });
  expect(await asked("pixel")).toEqual({ px_site: 3, px_blog: 1 });
  expect(await asked("day")).toEqual({ "2026-01-11": 4 });
  expect((await call("summarize_leads", { by: "email" })).isError).toBe(true);
});

test("the pixels of the account are listed with their status", async () => {
  const pixels = [
    { id: "px_shop", status: "active" },
    { id: "px_blog", status: "paused" },
  ];
  const { text } = await (await anAgentOf({ pixels })).call("list_pixels");
  expect(JSON.parse(text)).toEqual({ pixels });
});

test("a summary names every state, and combines the smallest of many sources", async () => {
  const codes = Object.keys(states);
  const leads = codes.map((state, n) => aLead({ state, traffic_source: `source ${n}` }));
  const before = new Date(Date.parse(leads.at(-1)?.identified_at ?? "") + 1).toISOString();
  const { text } = await (await anAgentOf({ leads })).call("summarize_leads", { before });
  const { by_state, by_source } = JSON.parse(text);
  expect(by_state).toEqual(Object.fromEntries(codes.map((state) => [state, 1])));
  expect(by_source["(others)"]).toBe(codes.length - 25);
});

test("a summary marks shortened labels, and splits no character", async () => {
  const long = `https://shop.example.com/${"four-".repeat(14)}four`;
  const pages = [long, `${long}🙂`, `${long}🙂first`, `${long}🙂second`];
  const leads = pages.map((page) => aLead({ page_url: page }));
  const before = new Date(Date.parse(leads.at(-1)?.identified_at ?? "") + 1).toISOString();
  const { text } = await (await anAgentOf({ leads })).call("summarize_leads", { before });
  expect(JSON.parse(text).by_page).toEqual({ [`${long}🙂…`]: 2, [long]: 1, [`${long}🙂`]: 1 });
});

test("usage is that of the key, including this call", async () => {
  const { text } = await (await anAgentOf({ limit: 60 })).call("usage");
  expect(JSON.parse(text)).toMatchObject({ requests_today: 1, rate_limit_per_min: 60 });
});

test("the help has a configuration that starts it from any folder", async () => {
  const { stdout } = await anAdmin().run("mcp", "--help");
  const [settings = ""] = /\{"mcpServers".+?\n\n/s.exec(stdout) ?? [];
  expect(JSON.parse(settings)).toEqual({
    mcpServers: {
      leadfile: {
        command: "bun",
        args: ["--no-env-file", "--config=/dev/null", "/path/to/leadfile/src/admin.ts", "mcp", "http://localhost:3000"],
        env: { LEADFILE_KEY: "lf_…" },
      },
    },
  });
});

test.each([
  ["does not start without a key", "", "http://127.0.0.1:9", 2, "LEADFILE_KEY"],
  ["sends no key in plain text to another machine", "lf_someKey1", "http://0.0.0.0:9", 2, "--allow-plain-http"],
  ["does so with --allow-plain-http", "lf_someKey1", "http://0.0.0.0:9 --allow-plain-http", 0, ""],
])("it %s", async (_, LEADFILE_KEY, words, status, says) => {
  const command = [...adminCommand, "mcp", ...words.split(" ")];
  const { exited, errors } = start({ LEADFILE_KEY }, aFolder(), command);
  expect([await exited, errors()]).toEqual([status, expect.stringContaining(says)]);
});

describe("an error is a clear response", () => {
  test("a reached limit says how long to wait", async () => {
    const { call } = await anAgentOf({ limit: 1 });
    await call("usage");
    expect(await call("usage")).toEqual({
      isError: true,
      text: "The limit of requests per minute is used up (rate_limit_exceeded). Ask again in 60 seconds.",
    });
  });

  test("a summary that reaches the limit returns its counts, and how to continue", async () => {
    const leads = someLeads(250);
    const { call } = await anAgentOf({ leads, limit: 2 });
    const { text, isError } = await call("summarize_leads", { before: new Date(noonMs).toISOString() });
    const cursor = leads[50]?.identified_at;
    expect(isError).toBe(false);
    const { leads: counted, since, missing } = JSON.parse(text);
    expect(counted).toBe(200);
    // Without since, the next call would go back 30 days from there, beyond what was asked for.
    expect(missing).toContain(`with since ${since} and before ${cursor}`);
  });

  test("a summary whose key is revoked while it runs says so, and advises no retry", async () => {
    const server = await serve({ leads: someLeads(250) });
    const line = await aLine(server);
    line.faults.push("none", "busy");
    const { secret, id } = server.aKeyRecord();
    const sleep = async () => void (await revokeKey(server.database, id, noonMs));
    const { call } = await anAgent(line.url, secret, { now: Date.now, random: () => 1, sleep });
    const { text, isError } = await call("summarize_leads", { before: new Date(noonMs).toISOString() });
    expect([isError, text]).toEqual([true, expect.stringMatching(/revoked_api_key.*another key/)]);
  });

  test("waits if the wait is short", async () => {
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
    expect(said).toEqual({ isError: true, text: expect.stringMatching(/revoked_api_key.*was revoked.*another key/) });
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
});

describe("a problem that a model cannot solve", () => {
  const swift: Clock = { now: Date.now, random: () => 1, sleep: async () => undefined };

  test("an unreachable server and an address without the API are reported to the person who started the program", async () => {
    const server = await serve();
    const elsewhere = await anAgent(`${server.url}/elsewhere`, server.aKey());
    expect((await elsewhere.call("usage")).text).toMatch(/not_found.*person who started this program to check its URL/);
    const { call } = await anAgent(server.url, server.aKey(), swift);
    await server.stop();
    expect((await call("usage")).text).toMatch(
      /could not be reached.*in a minute.*started this program to check its URL/,
    );
  });

  test("a key that a proxy removes is reported to the owner of the server", async () => {
    const error = { code: "missing_api_key", message: "Send the header Authorization: Bearer <API_KEY>.", docs: "" };
    const proxy = answering(() => Response.json({ error }, { status: 401 }));
    const { text } = await (await anAgent(proxy, "lf_0123456789")).call("usage");
    expect(text).toBe(
      "The server refused (missing_api_key): The key was sent but did not arrive. Check that no proxy in front of the server removes the Authorization header.",
    );
  });

  test("advice is about the tools, not about endpoints or encoding", async () => {
    const { call } = await anAgentOf();
    expect((await call("list_leads", { pixel_id: "px_none" })).text).toContain("list_pixels lists them");
    expect((await call("list_leads", { since: "31.1.2026" })).text).toEndWith("such as 2026-01-31T09:15:00Z.");
  });
});
