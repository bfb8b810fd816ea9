/** bun admin mcp where the server refuses: an answer that says what to do. */
import { describe, expect, onTestFinished, test } from "bun:test";
import type { Clock } from "../../../packages/client/src/time.ts";
import { noonMs, someLeads } from "../../support/builders.ts";
import { serve } from "../../support/harness.ts";
import { aLine } from "../client/line.ts";
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

  test("a summary that reaches the limit returns its counts, and how to continue", async () => {
    const leads = someLeads(250);
    const { url, aKey } = await serve({ leads, limit: 2 });
    const { call } = await anAgent(url, aKey());
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

describe("a problem that a model cannot solve", () => {
  const swift: Clock = { now: Date.now, random: () => 1, sleep: async () => undefined };

  test("an unreachable server and an address without the API are reported to the person who started the program", async () => {
    const server = await serve();
    const elsewhere = await anAgent(`${server.url}/elsewhere`, server.aKey());
    expect((await elsewhere.call("usage")).text).toMatch(/not_found.*whoever started this program to check its URL/);
    const { call } = await anAgent(server.url, server.aKey(), swift);
    await server.stop();
    expect((await call("usage")).text).toMatch(/was not reached.*in a minute.*started this program to check its URL/);
  });

  test("a key that a proxy removes is reported to the owner of the server", async () => {
    const error = { code: "missing_api_key", message: "Send the header Authorization: Bearer <API_KEY>.", docs: "" };
    const proxy = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => Response.json({ error }, { status: 401 }) });
    onTestFinished(() => void proxy.stop(true));
    const { text } = await (await anAgent(proxy.url.origin, "lf_0123456789")).call("usage");
    expect(text).toBe(
      "The server refused (missing_api_key): The key was sent but did not arrive. Check that no proxy in front of the server removes the Authorization header.",
    );
  });

  test("advice is about the tools: no other endpoint, and no encoding, which would be done twice", async () => {
    const { url, aKey } = await serve();
    const { call } = await anAgent(url, aKey());
    expect((await call("list_leads", { pixel_id: "px_none" })).text).toContain("under by_pixel");
    expect((await call("list_leads", { since: "2026-01-31" })).text).toEndWith("such as 2026-01-31T09:15:00Z.");
  });
});
