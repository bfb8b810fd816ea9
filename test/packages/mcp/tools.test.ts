/** bun admin mcp: three tools that read, and what they answer. */
import { expect, test } from "bun:test";
import { countTokens as countO200k } from "gpt-tokenizer/encoding/o200k_base";
import { states } from "../../../src/contract/states.ts";
import { anAdmin } from "../../support/admin.ts";
import { aLead } from "../../support/builders.ts";
import { aFolder } from "../../support/folder.ts";
import { serve } from "../../support/harness.ts";
import { anAgent, aProcess, everyTable, program } from "./agent.ts";

test("there are three tools, and each says that it only reads", async () => {
  const { url, aKey } = await serve();
  const { client } = await aProcess(url, aKey());
  const { tools } = await client.listTools();
  expect(tools.map(({ name }) => name).toSorted()).toEqual(["list_leads", "summarize_leads", "usage"]);
  expect(tools.map(({ annotations }) => annotations?.readOnlyHint)).toEqual([true, true, true]);
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

test("a summary counts by day, pixel, page, state and source, over its span alone", async () => {
  const at = (day: number, n: number) => `2026-01-${day}T10:00:0${n}.000Z`;
  const leads = [
    aLead({ identified_at: at(10, 0) }),
    aLead({ identified_at: at(11, 0), pixel_id: "px_blog", state: "TX", traffic_source: null }),
    aLead({ identified_at: at(11, 1), state: null, page_url: "https://shop.example.com/pricing?plan=2" }),
    aLead({ identified_at: at(12, 0), page_url: "https://shop.example.com/" }),
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
    by_page: { "https://shop.example.com/pricing": 2, "https://shop.example.com/": 1 },
    by_state: { TX: 1, CA: 1, "(none)": 1 },
    by_source: { organic: 2, "(none)": 1 },
  });
  expect(await agent.call("summarize_leads", { since: "2025-01-01T00:00:00Z", before: at(12, 1) })).toMatchObject({
    isError: true,
    text: expect.stringContaining("92 days at most"),
  });
});

test("a summary names every state, and sums up the smallest of many sources", async () => {
  const codes = Object.keys(states);
  const leads = codes.map((state, n) => aLead({ state, traffic_source: `source ${n}` }));
  const { url, aKey } = await serve({ leads });
  const before = new Date(Date.parse(leads.at(-1)?.identified_at ?? "") + 1).toISOString();
  const { text } = await (await anAgent(url, aKey())).call("summarize_leads", { before });
  const { by_state, by_source } = JSON.parse(text);
  expect(by_state).toEqual(Object.fromEntries(codes.map((state) => [state, 1])));
  expect(by_source["(others)"]).toBe(codes.length - 25);
});

test("a summary says which labels are only the beginning of a long text, and cuts no letter", async () => {
  const long = `https://shop.example.com/${"x".repeat(74)}`;
  const pages = [long, `${long}🙂`, `${long}🙂first`, `${long}🙂second`];
  const leads = pages.map((page) => aLead({ page_url: page }));
  const { url, aKey } = await serve({ leads });
  const before = new Date(Date.parse(leads.at(-1)?.identified_at ?? "") + 1).toISOString();
  const { text } = await (await anAgent(url, aKey())).call("summarize_leads", { before });
  expect(JSON.parse(text).by_page).toEqual({ [`${long}🙂…`]: 2, [long]: 1, [`${long}🙂`]: 1 });
});

test("usage is that of the key, this call included", async () => {
  const { url, aKey } = await serve({ limit: 60 });
  const { text } = await (await anAgent(url, aKey())).call("usage");
  expect(JSON.parse(text)).toMatchObject({ requests_today: 1, rate_limit_per_min: 60 });
});

test("the help has settings that start it from any folder", async () => {
  const { stdout } = await anAdmin().run("mcp", "--help");
  const [settings = ""] = /\{"mcpServers".+?\n\n/s.exec(stdout) ?? [];
  expect(JSON.parse(settings)).toEqual({
    mcpServers: {
      leadfile: {
        command: "bun",
        args: ["/path/to/leadfile/src/admin.ts", "mcp", "http://localhost:3000"],
        env: { LEADFILE_KEY: "lf_…" },
      },
    },
  });
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
