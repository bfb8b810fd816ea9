/** bun admin follow --post and --exec: each lead goes to the receiver, and again until it is taken. */
import { describe, expect, test } from "bun:test";
import { createHmac } from "node:crypto";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { webhook } from "../../../../packages/client/program/post.ts";
import { answering } from "../../../support/answering.ts";
import { aLead } from "../../../support/builders.ts";
import { until } from "../../../support/eventually.ts";
import { aSource, follow, linesOf, written } from "./following.ts";

const secret = "a secret of the receiver";
const withSecret = { LEADFILE_POST_SECRET: secret };

describe("posting to an address", () => {
  test("posts each lead in order, signed over its time and body, with its ID", async () => {
    const { leads, posts, status } = await posting(3, 3, [], "/leads?token=t");
    expect(status).toBe(0);
    expect(posts.map(({ body }) => body)).toEqual(written(leads));
    for (const { headers, body } of posts) {
      const seconds = headers.get("leadfile-timestamp") ?? "";
      const signature = createHmac("sha256", secret).update(`${seconds}.${body}`).digest("hex");
      expect(headers.get("leadfile-signature")).toBe(`sha256=${signature}`);
      expect(Math.abs(Date.now() / 1000 - Number(seconds))).toBeLessThan(60);
      expect(headers.get("content-type")).toBe("application/json");
    }
    expect(posts.map(({ headers }) => headers.get("idempotency-key"))).toEqual(leads.map(({ id }) => id));
  });

  test("retries any response but a 2xx in order, waits for a longer Retry-After, and reports only the origin", async () => {
    const answers = [
      new Response("down", { status: 503 }),
      new Response(null, { status: 302, headers: { Location: "/elsewhere" } }),
      new Response(null, { status: 429, headers: { "Retry-After": "3" } }),
    ];
    const { leads, address, posts, errors } = await posting(2, 5, answers, "/hook-token");
    const [first, second] = written(leads);
    expect(posts.map(({ body }) => body)).toEqual([first, first, first, first, second] as string[]);
    expect(errors).toContain(`${address} answered 503. Lead ${leads[0]?.id} is tried again in 0.5 s.`);
    expect(errors).toContain(`${address} answered 302.`);
    expect(errors).toContain("again in 3 s.");
    expect(errors).not.toContain("token");
  });

  test("reads the complete response", async () => {
    let whole = 0;
    async function* slowly() {
      yield "first";
      await Bun.sleep(100);
      yield "last";
      whole += 1;
    }
    await posting(2, 2, [new Response(slowly()), new Response(slowly())]);
    expect(whole).toBe(2);
  });
});

describe("posting to an address that rejects leads", () => {
  test("reports an address that does not respond in time with advice, and one that is not reached with its reason", async () => {
    const address = answering(() => new Promise<Response>(() => undefined));
    expect(await offerTo(new URL(address), 20)).toMatchObject({
      why: `${address} did not respond within 0.02 s.`,
      advice: expect.stringContaining("respond first and work then"),
    });
    const why = "http://127.0.0.1:9 could not be reached (ECONNREFUSED).";
    expect(await offerTo(new URL("http://127.0.0.1:9/hook-token"), 5_000)).toMatchObject({ why, advice: "" });
  });

  const skip = " To skip this lead, start again with --since 2026-01-31T09:15:01.000Z and a new checkpoint.";
  test.each([
    [301, "--post follows no redirect. Give it the address to which this one redirects.", ""],
    [401, "Check the address, and that LEADFILE_POST_SECRET and the clock are the same on both sides.", ""],
    [410, "Check the address.", ""],
    [409, "It must answer 2xx for a lead that it already has.", skip],
    [422, "Its log says why it refuses this lead.", skip],
  ])("reports a response that will not change, such as %d, with advice", async (status, advice, more) => {
    const { address } = aReceiver([new Response(null, { status })]);
    const lead = aLead({ identified_at: "2026-01-31T09:15:00.999Z" });
    expect(await offerTo(new URL(address), 5_000, lead)).toMatchObject({
      why: `${address} answered ${status}.`,
      advice: `${advice} Leads wait until it answers 2xx.${more}`,
    });
  });

  test("the advice on a lead that is always refused skips that lead only", async () => {
    const { url, leads, settings } = await aSource(3);
    const { address, posts } = aReceiver([new Response(null, { status: 422 })]);
    const first = follow([url, "--post", address, "--checkpoint", "cp"], { settings: { ...settings, ...withSecret } });
    await until(() => first.errors() !== "");
    await first.end();
    const [, since = ""] = /start again with --since (\S+)/.exec(first.errors()) ?? [];
    const again = [url, "--post", address, "--since", since, "--checkpoint", "cp2"];
    const second = follow(again, { settings: { ...settings, ...withSecret }, folder: first.folder });
    await until(() => posts.length >= 3);
    await second.end();
    const [, ...others] = leads.map((lead) => JSON.stringify(lead));
    expect(posts.slice(1).map(({ body }) => body)).toEqual(others);
  });

  test("advice is given once, and the lead is tried again", async () => {
    const refusal = () => new Response(null, { status: 422 });
    const { leads, address, errors } = await posting(1, 3, [refusal(), refusal()]);
    expect(errors.split("\n")).toEqual([
      expect.stringMatching(/ answered 422\. Its log says why it refuses this lead\. .* is tried again in 0\.5 s\.$/),
      `${address} answered 422. Lead ${leads[0]?.id} is tried again in 1 s.`,
      "",
    ]);
  });
});

/** Posts the leads of a server until the receiver has so many posts, and stops in order. */
async function posting(count: number, posted: number, answers: Response[], path = "") {
  const { url, leads, settings } = await aSource(count);
  const { address, posts } = aReceiver(answers);
  const following = follow([url, "--post", address + path], { settings: { ...settings, ...withSecret } });
  await until(() => posts.length >= posted);
  return { leads, address, posts, status: await following.end(), errors: following.errors() };
}

/** Offers one lead, and waits so long for the answer. */
function offerTo(url: URL, timeoutMs: number, lead = aLead()) {
  return webhook({ url, secret, now: Date.now, timeoutMs })(lead);
}

interface Post {
  readonly headers: Headers;
  readonly body: string;
}

/** A webhook that keeps what it gets; it answers what it is given first, and 204 from then on. */
function aReceiver(answers: Response[] = []) {
  const posts: Post[] = [];
  const address = answering(async (request) => {
    posts.push({ headers: request.headers, body: await request.text() });
    return answers.shift() ?? new Response(null, { status: 204 });
  });
  return { address, posts };
}

describe("running a command", () => {
  test("retries a failed lead before any other, with growing pauses", async () => {
    const { url, leads, settings } = await aSource(2);
    const fails = "cat >> tried; test $(wc -l < tried) -ge 3";
    const following = follow([url, "--exec", fails, "--checkpoint", "cp"], { settings });
    const file = join(following.folder, "tried");
    await until(() => linesOf(file).length === 4);
    await following.end();
    const [first, second] = written(leads);
    expect(linesOf(file)).toEqual([first, first, first, second] as string[]);
    const again = `Lead ${leads[0]?.id} is tried again in`;
    expect(following.errors()).toBe(
      `The command ended with status 1. ${again} 0.5 s.\nThe command ended with status 1. ${again} 1 s.\n`,
    );
  });

  test("a stop between two attempts leaves the lead to the next start", async () => {
    const { url, leads, settings } = await aSource(1);
    const first = follow([url, "--exec", "false", "--checkpoint", "cp"], { settings });
    await until(() => first.errors() !== "");
    expect(await first.end()).toBe(0);
    const second = follow([url, "--checkpoint", "cp"], { settings, folder: first.folder });
    await until(() => second.lines().length === 1);
    await second.end();
    expect(second.lines()).toEqual(written(leads));
  });

  test("a stop lets the command finish the current lead", async () => {
    const { url, settings } = await aSource(2);
    const slow = "echo began >> log; until [ -e go ]; do sleep 0.05; done; echo done >> log";
    const following = follow([url, "--exec", slow, "--checkpoint", "cp"], { settings });
    const log = join(following.folder, "log");
    await until(() => linesOf(log).length === 1);
    const ended = following.end();
    writeFileSync(join(following.folder, "go"), "");
    expect(await ended).toBe(0);
    expect(linesOf(log)).toEqual(["began", "done"]);
    const next = follow([url, "--checkpoint", "cp"], { settings, folder: following.folder });
    await until(() => next.lines().length === 1);
    await next.end();
  });

  test("the command gets the environment without the key and the secret", async () => {
    const { url, settings } = await aSource(1);
    const more = { LEADFILE_POST_SECRET: "a secret of the receiver", COLOUR: "green" };
    const following = follow([url, "--exec", "env > seen.part; mv seen.part seen"], {
      settings: { ...settings, ...more },
    });
    await until(() => existsSync(join(following.folder, "seen")));
    await following.end();
    const seen = readFileSync(join(following.folder, "seen"), "utf8");
    expect(seen).toContain("COLOUR=green");
    expect(seen).not.toContain("LEADFILE_");
  });
});
