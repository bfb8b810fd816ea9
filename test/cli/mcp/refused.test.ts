/** bun admin mcp where the server refuses: an answer that says what to do. */
import { describe, expect, test } from "bun:test";
import type { Clock } from "../../../client/src/clock.ts";
import { noonMs, someLeads } from "../../builders.ts";
import { aLine } from "../../client/line.ts";
import { serve } from "../../harness.ts";
import { anAgent, tableOf } from "./agent.ts";

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

  test("a summary whose key is revoked on the way says so, and not that it should be asked for again", async () => {
    const server = await serve({ leads: someLeads(250) });
    const line = await aLine(server);
    line.faults.push("none", "busy");
    const { secret, id } = server.aKeyRecord();
    const sleep = async () => void server.admin.keys.revoke(id, noonMs);
    const { call } = await anAgent(line.url, secret, { now: Date.now, random: () => 1, sleep });
    const { text, isError } = await call("summarize_leads", { before: new Date(noonMs).toISOString() });
    expect([isError, text]).toEqual([true, expect.stringMatching(/revoked_api_key.*another key/)]);
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
});
