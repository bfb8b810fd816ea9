/** bun admin follow --post and --exec: each lead goes to the receiver, and again until it is taken. */
import { describe, expect, test } from "bun:test";
import { createHmac } from "node:crypto";
import { existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { readSecret, webhook } from "../../../../packages/client/program/post.ts";
import { answering } from "../../../support/answering.ts";
import { aLead } from "../../../support/builders.ts";
import { until } from "../../../support/eventually.ts";
import { aFolder } from "../../../support/folder.ts";
import { aSource, follow, linesOf, written } from "./following.ts";

const secret = "a secret of the receiver";
const withSecret = { LEADFILE_POST_SECRET: secret };

describe("posting to an address", () => {
  test("posts each lead in order, signed over its time and body, with its ID", async () => {
    const { leads, posts, status } = await posting(3, 3, [], "/leads?token=t");
    expect(status).toBe(0);
    expect(posts.map(({ body }) => body)).toEqual(written(leads));
    for (const { headers, body } of posts) {
      const [id, seconds] = [headers.get("webhook-id"), headers.get("webhook-timestamp")];
      const signature = createHmac("sha256", secret).update(`${id}.${seconds}.${body}`).digest("base64");
      expect(headers.get("webhook-signature")).toBe(`v1,${signature}`);
      expect(Math.abs(Date.now() / 1000 - Number(seconds))).toBeLessThan(60);
      expect(headers.get("content-type")).toBe("application/json");
    }
    expect(posts.map(({ headers }) => headers.get("webhook-id"))).toEqual(leads.map(({ id }) => id));
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
    expect(errors).toContain(`${address} answered 503. Lead ${leads[0]?.id} is tried again in 0.5 s, at 20`);
    expect(errors).toContain(`${address} answered 302.`);
    expect(errors).toContain("again in 3 s, at 20");
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

  const skip =
    " To store such leads in a file and continue, start again with --dead-letter FILE. To skip this lead, start again with --since 2026-01-31T09:15:01.000Z and a new checkpoint.";
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
    const [first = "", ...others] = errors.replaceAll(/ at \S+Z\.$/gm, "").split("\n");
    expect(first).toMatch(/ answered 422\. Its log says why it refuses this lead\. .* is tried again in 0\.5 s,$/);
    expect(others).toEqual([`${address} answered 422. Lead ${leads[0]?.id} is tried again in 1 s,`, ""]);
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
  return webhook({ url, secret: Buffer.from(secret), now: Date.now, timeoutMs })(lead);
}

interface Post {
  readonly headers: Headers;
  readonly body: string;
}

/** A webhook that keeps what it gets; it answers what it is given first, and 204 from then on. */
function aReceiver(answers: Response[] = [], statusOf: (post: Post) => number = () => 204) {
  const posts: Post[] = [];
  const address = answering(async (request) => {
    const post = { headers: request.headers, body: await request.text() };
    posts.push(post);
    return answers.shift() ?? new Response(null, { status: statusOf(post) });
  });
  return { address, posts };
}

describe("a permanently rejected lead", () => {
  const lettersIn = (folder: string) => linesOf(join(folder, "dead")).map((line) => JSON.parse(line));

  test.each([400, 413, 415, 422])("is a dead letter after a %d, and the others follow", async (status) => {
    const { url, leads, settings } = await aSource(3);
    const refusedId = leads[1]?.id;
    const { address, posts } = aReceiver([], ({ headers }) => (headers.get("webhook-id") === refusedId ? status : 204));
    const args = [url, "--post", address, "--checkpoint", "cp", "--dead-letter", "dead"];
    const following = follow(args, { settings: { ...settings, ...withSecret } });
    await until(() => posts.length === 3);
    expect(await following.end()).toBe(0);
    const reason = `${address} answered ${status}.`;
    expect(lettersIn(following.folder)).toEqual([
      { failed_at: expect.stringMatching(/Z$/), reason, attempts: 1, lead: leads[1] },
    ]);
    expect(following.errors()).toBe(`${reason} Lead ${refusedId} was written to dead. The next lead follows.\n`);
    expect(statSync(join(following.folder, "dead")).mode & 0o777).toBe(0o600);
    // The checkpoint is after it: a new start posts nothing again.
    const again = follow(args, { settings: { ...settings, ...withSecret }, folder: following.folder });
    await Bun.sleep(500);
    await again.end();
    expect([posts.length, lettersIn(following.folder).length]).toEqual([3, 1]);
  });

  test.each([408, 429, 503, 401, 404])("waits after a %d, which may pass or concerns all leads", async (status) => {
    const { url, leads, settings } = await aSource(2);
    const { address, posts } = aReceiver([new Response(null, { status })]);
    const following = follow([url, "--post", address, "--dead-letter", "dead"], {
      settings: { ...settings, ...withSecret },
    });
    await until(() => posts.length === 3);
    await following.end();
    expect(posts.map(({ headers }) => headers.get("webhook-id"))).toEqual([
      leads[0]?.id,
      ...leads.map(({ id }) => id),
    ] as string[]);
    expect(lettersIn(following.folder)).toEqual([]);
  });

  test("is one after --give-up-after attempts, also of a command, and follows a line that a crash cut off", async () => {
    const { url, leads, settings } = await aSource(2);
    const folder = aFolder();
    writeFileSync(join(folder, "dead"), '{"half');
    const fails = `cat >> tried; ! tail -n 1 tried | grep -q ${leads[0]?.id}`;
    const args = [url, "--exec", fails, "--checkpoint", "cp", "--dead-letter", "dead", "--give-up-after", "2"];
    const following = follow(args, { settings, folder });
    await until(() => linesOf(join(folder, "tried")).length === 3);
    await following.end();
    const [first, second] = written(leads);
    expect(linesOf(join(folder, "tried"))).toEqual([first, first, second] as string[]);
    const [half, letter] = linesOf(join(folder, "dead"));
    expect([half, JSON.parse(letter ?? "")]).toEqual([
      '{"half',
      expect.objectContaining({ reason: "The command ended with status 1.", attempts: 2, lead: leads[0] }),
    ]);
  });

  test("is offered again while the file cannot be written", async () => {
    const { url, settings } = await aSource(1);
    const args = [url, "--exec", "false", "--dead-letter", "/dev/full", "--give-up-after", "1"];
    const following = follow(args, { settings });
    await until(() => following.errors().includes("again in 1 s"));
    await following.end();
    expect(following.errors()).toMatch(/status 1\. \/dev\/full could not be written \(ENOSPC\)\. Lead \S+ is tried/);
  });
});

test("a secret is whsec_ and base64, or its bytes", () => {
  expect(readSecret("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw")).toEqual(
    Buffer.from("MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "base64"),
  );
  expect(readSecret("a secret in full")).toEqual(Buffer.from("a secret in full"));
  for (const text of ["", "too short", "whsec_", "whsec_c2hvcnQ=", "whsec_no base64, but rather long"]) {
    expect(() => readSecret(text)).toThrow("whsec_ and base64");
  }
});

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
    expect(following.errors().replaceAll(/ at \S+Z\./g, "")).toBe(
      `The command ended with status 1. ${again} 0.5 s,\nThe command ended with status 1. ${again} 1 s,\n`,
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
