/** bun admin follow: every lead, oldest first, to whoever takes it, and again until it is taken. */
import { describe, expect, onTestFinished, test } from "bun:test";
import { createHmac } from "node:crypto";
import { existsSync, openSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Lead } from "../../src/contract/lead.ts";
import { someLeads } from "../builders.ts";
import { until } from "../eventually.ts";
import { aFolder } from "../folder.ts";
import { serve } from "../harness.ts";
import { follow } from "./following.ts";

const written = (leads: readonly Lead[]) => leads.map((lead) => JSON.stringify(lead));
const secret = "a secret of the receiver";
const withSecret = { LEADFILE_POST_SECRET: secret };
const program = join(import.meta.dir, "../../src/admin.ts");

/** A server with leads, and the settings of a client of it. */
async function aSource(count: number) {
  const leads = someLeads(count);
  const server = await serve({ leads });
  return { ...server, leads, settings: { LEADFILE_KEY: server.aKey() } };
}

const linesOf = (file: string) => (existsSync(file) ? readFileSync(file, "utf8").split("\n").slice(0, -1) : []);

describe("to standard output", () => {
  test("existing leads come oldest first, as served, and then new ones, until SIGTERM", async () => {
    const { url, leads, settings, importMore } = await aSource(3);
    const following = follow([url], { settings });
    await until(() => following.lines().length === 3);
    const more = someLeads(2);
    importMore(more);
    await until(() => following.lines().length === 5);
    expect(await following.end("SIGTERM")).toBe(0);
    expect(following.lines()).toEqual(written([...leads, ...more]));
    expect(following.errors()).toBe("");
  });

  test("a start with the checkpoint of the last one repeats nothing, and goes on where that ended", async () => {
    const { url, leads, settings, importMore } = await aSource(2);
    const first = follow([url, "--checkpoint", "cp"], { settings });
    await until(() => first.lines().length === 2);
    expect(await first.end("SIGINT")).toBe(0);
    const more = someLeads(1);
    importMore(more);
    const second = follow([url, "--checkpoint", "cp"], { settings, folder: first.folder });
    await until(() => second.lines().length > 0);
    await second.end();
    expect([...first.lines(), ...second.lines()]).toEqual(written([...leads, ...more]));
  });

  test("--since begins there, itself included", async () => {
    const { url, leads, settings } = await aSource(3);
    const following = follow([url, "--since", leads[1]?.identified_at ?? ""], { settings });
    await until(() => following.lines().length === 2);
    await following.end();
    expect(following.lines()).toEqual(written(leads.slice(1)));
  });

  test("the key may come from a standard input that stays open", async () => {
    const { url, settings } = await aSource(1);
    const following = follow([url], { input: `${settings.LEADFILE_KEY}\n` });
    await until(() => following.lines().length === 1);
    expect(await following.end()).toBe(0);
  });

  test("a reader that closes the pipe ends it in order", async () => {
    const { url, settings } = await aSource(300);
    const [status, output] = await inShell(`(bun "$ADMIN" follow ${url}; echo $? > status) | head -n 2`, settings);
    expect(output.split("\n")).toHaveLength(3);
    expect(status).toBe("0");
  });

  test("a reader that does not read does not delay a stop", async () => {
    const { url, settings } = await aSource(300);
    const program = `bun "$ADMIN" follow ${url} --checkpoint cp & echo $! > pid; wait $!; echo $? > status`;
    // It does not read: 300 leads are more than a pipe holds.
    const reader =
      "until [ -s cp ]; do sleep 0.1; done; kill $(cat pid); until [ -s status ]; do sleep 0.1; done; cat status";
    const [, output] = await inShell(`(${program}) | (${reader})`, settings);
    expect(output).toBe("0\n");
  });

  test("after a line that a kill cut off, leads begin on a new line", async () => {
    const { url, leads, settings } = await aSource(2);
    const folder = aFolder();
    const file = join(folder, "out");
    writeFileSync(file, '{"id":"half');
    const following = follow([url], { settings, output: openSync(file, "a") });
    await until(() => linesOf(file).length === 3);
    await following.end();
    expect(linesOf(file)).toEqual(['{"id":"half', ...written(leads)]);
  });

  test("a full disk is reported, and tried again with growing pauses", async () => {
    const { url, settings } = await aSource(1);
    const following = follow([url], { settings, output: openSync("/dev/full", "a") });
    await until(() => following.errors().includes("again in 1 s."));
    expect(await following.end()).toBe(0);
    expect(following.errors()).toMatch(/^[^\n]*ENOSPC[^\n]* again in 0\.5 s\.\n[^\n]*ENOSPC[^\n]* again in 1 s\.\n$/);
  });
});

describe("to a command", () => {
  test("each lead is on its standard input, one process each, in order", async () => {
    const { url, leads, settings } = await aSource(3);
    const following = follow([url, "--exec", "cat >> taken"], { settings });
    const file = join(following.folder, "taken");
    await until(() => linesOf(file).length === 3);
    expect(await following.end()).toBe(0);
    expect(linesOf(file)).toEqual(written(leads));
  });

  test("a lead that it did not take comes again before any other, with growing pauses", async () => {
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

  test("a stop between two tries leaves the lead to the next start", async () => {
    const { url, leads, settings } = await aSource(1);
    const first = follow([url, "--exec", "false", "--checkpoint", "cp"], { settings });
    await until(() => first.errors() !== "");
    expect(await first.end()).toBe(0);
    const second = follow([url, "--checkpoint", "cp"], { settings, folder: first.folder });
    await until(() => second.lines().length === 1);
    await second.end();
    expect(second.lines()).toEqual(written(leads));
  });

  test("a stop lets it finish the lead in hand", async () => {
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

  test("it sees the environment, but neither the key nor the secret", async () => {
    const { url, settings } = await aSource(1);
    const more = { LEADFILE_POST_SECRET: secret, COLOUR: "green" };
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

describe("to an address", () => {
  test("each lead is posted in order, signed over its time and its body, under its id", async () => {
    const { url, leads, settings } = await aSource(3);
    const { address, posts } = aReceiver();
    const following = follow([url, "--post", `${address}/leads?token=t`], { settings: { ...settings, ...withSecret } });
    await until(() => posts.length === 3);
    expect(await following.end()).toBe(0);
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

  test("any answer but a 2xx is tried again, in order, and reported with the origin alone", async () => {
    const { url, leads, settings } = await aSource(2);
    const { address, posts } = aReceiver([
      new Response("down", { status: 503 }),
      new Response(null, { status: 302, headers: { Location: "/elsewhere" } }),
    ]);
    const following = follow([url, "--post", `${address}/hook-token`], { settings: { ...settings, ...withSecret } });
    await until(() => posts.length === 4);
    await following.end();
    const [first, second] = written(leads);
    expect(posts.map(({ body }) => body)).toEqual([first, first, first, second] as string[]);
    expect(following.errors()).toContain(`${address} answered 503. Lead ${leads[0]?.id} is tried again in 0.5 s.`);
    expect(following.errors()).toContain(`${address} answered 302.`);
    expect(following.errors()).not.toContain("token");
  });

  test("a Retry-After that is longer than the pause is obeyed", async () => {
    const { url, settings } = await aSource(1);
    const { address, posts } = aReceiver([new Response(null, { status: 429, headers: { "Retry-After": "2" } })]);
    const following = follow([url, "--post", address], { settings: { ...settings, ...withSecret } });
    await until(() => posts.length === 2);
    await following.end();
    expect(following.errors()).toContain("again in 2 s.");
  });

  test("an address that does not answer yet is tried again", async () => {
    const { url, settings } = await aSource(1);
    const following = follow([url, "--post", "http://127.0.0.1:9/"], { settings: { ...settings, ...withSecret } });
    await until(() => following.errors().includes("again in 1 s."));
    expect(await following.end()).toBe(0);
    expect(following.errors()).toContain("http://127.0.0.1:9 was not reached");
  });
});

describe("a wrong option is refused in one line", () => {
  test.each([
    [["--exec", "true", "--post", "https://crm.example.com"], 2, "--exec or to --post"],
    [["--post", "http://crm.example.com/leads"], 2, "--allow-plain-http"],
    [["--post", "https://me:secret@crm.example.com"], 2, "takes an address"],
    [["--post", "crm"], 2, "takes an address"],
    [["--post", "https://crm.example.com"], 2, "LEADFILE_POST_SECRET"],
    [["--since", "yesterday"], 2, "--since"],
    [["--since", "2026-01-31T09:15:00"], 2, "its offset"],
    [["--since", "2026-13-31"], 2, "--since"],
    [["--overlap", "long"], 2, "--overlap takes"],
    [["--checkpoint", "no/such/folder/cp"], 1, "no/such/folder/cp"],
  ])("%j", async (args, status, says) => {
    const { url, settings } = await aSource(0);
    await refused(follow([url, ...args], { settings }), status, says);
  });

  test("a malformed address, or plain http to another machine", async () => {
    const settings = { LEADFILE_KEY: "lf_0123456789" };
    await refused(follow(["www.example.com"], { settings }), 2, "URL takes the address");
    await refused(follow(["http://www.example.com"], { settings }), 2, "--allow-plain-http");
  });

  test("no key, and one that was revoked", async () => {
    const { url, aRevokedKey } = await aSource(0);
    await refused(follow([url], { input: "\n" }), 2, "LEADFILE_KEY");
    const revoked = aRevokedKey();
    const following = follow([url], { settings: { LEADFILE_KEY: revoked } });
    await refused(following, 1, "revoked_api_key");
    expect(following.errors()).not.toContain(revoked);
  });

  test("a file that is no checkpoint", async () => {
    const { url, settings } = await aSource(1);
    const folder = aFolder();
    writeFileSync(join(folder, "cp"), "years of work");
    await refused(follow([url, "--checkpoint", "cp"], { settings, folder }), 2, "checkpoint cannot be read");
    expect(readFileSync(join(folder, "cp"), "utf8")).toBe("years of work");
  });
});

async function refused(following: ReturnType<typeof follow>, status: number, says: string): Promise<void> {
  expect([await following.exited, following.errors()]).toEqual([status, expect.stringContaining(says)]);
  expect(following.errors().split("\n")).toHaveLength(2);
}

interface Post {
  readonly headers: Headers;
  readonly body: string;
}

/** A webhook that keeps what it gets; it answers what it is given first, and 204 from then on. */
function aReceiver(answers: Response[] = []) {
  const posts: Post[] = [];
  const receiver = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    async fetch(request) {
      posts.push({ headers: request.headers, body: await request.text() });
      return answers.shift() ?? new Response(null, { status: 204 });
    },
  });
  onTestFinished(() => void receiver.stop(true));
  return { address: receiver.url.origin, posts };
}

/** Runs a line of the shell; gives the text of the file `status`, if it wrote one, and its output. */
async function inShell(line: string, settings: Readonly<Record<string, string>>) {
  const folder = aFolder();
  const child = Bun.spawn(["/bin/sh", "-c", line], {
    cwd: folder,
    env: { PATH: process.env["PATH"] ?? "", HOME: folder, ADMIN: program, ...settings },
    stdin: "ignore",
    stdout: "pipe",
    stderr: "ignore",
  });
  const output = await child.stdout.text();
  await child.exited;
  return [linesOf(join(folder, "status"))[0], output] as const;
}
