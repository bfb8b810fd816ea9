/** Alerts: each finding is sent once when it appears and once when it ends, also across restarts and failures. */
import { describe, expect, test } from "bun:test";
import { lookup } from "node:dns/promises";
import { writeFileSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { keepAlerting } from "../../../extensions/upkeep/alerts.ts";
import { readWays } from "../../../extensions/upkeep/ways.ts";
import { type Finding, fine, shared, warning } from "../../../src/cli/doctor/finding.ts";
import { anAdmin } from "../../support/admin.ts";
import { answering } from "../../support/answering.ts";
import { aFolder } from "../../support/folder.ts";
import { aFreePort } from "../../support/free-port.ts";
import { aMailServer } from "../../support/mail-server.ts";

const minuteMs = 60_000;
const disk = (free: number): Finding => warning("disk", `Only ${free} MB are free.`, "Free some space.");

const anAlert = { level: "warning", what: "A.", advice: "B.", since: "2026-05-20T12:00:00.000Z" } as const;

interface Post {
  readonly state: string;
  readonly level: string;
  readonly what: string;
  readonly advice: string;
  readonly since: string;
  readonly minute: number;
}

/** Receives alerts while a simulated clock runs, and answers with the status that the test wants. */
function aReceiver(path = "") {
  const posts: Post[] = [];
  const requests: { minute: number; type: string | null }[] = [];
  const clock = { nowMs: Date.parse("2026-05-20T12:00:00.000Z") };
  const startMs = clock.nowMs;
  const receiver = { status: 200 };
  const minuteNow = () => Math.round((clock.nowMs - startMs) / minuteMs);
  const failures: string[] = [];
  const origin = answering(async (request) => {
    requests.push({ minute: minuteNow(), type: request.headers.get("Content-Type") });
    const body: Omit<Post, "minute"> = JSON.parse(await request.text());
    if (receiver.status === 200) posts.push({ ...body, minute: minuteNow() });
    return new Response("", { status: receiver.status, headers: { Location: "/" } });
  });
  const file = join(aFolder(), "leadfile.db.alerts");
  /** Runs for some minutes; what the doctor finds depends on the minute. */
  const run = (
    minutes: number,
    find: (minute: number) => Finding[],
    more: Record<string, string> = {},
    isSender: (minute: number) => boolean = () => true,
  ) => {
    const endMs = clock.nowMs + minutes * minuteMs;
    return keepAlerting({
      ways: readWays({ ALERT_URL: `${origin}/${path}`, ...more }),
      file,
      now: () => clock.nowMs,
      async pause(ms) {
        clock.nowMs += Math.max(ms, 1);
        return clock.nowMs >= endMs;
      },
      find: async () => find(minuteNow()),
      sendsSharedAlerts: async () => isSender(minuteNow()),
      onFailure: (name, cause) => failures.push(`${name}: ${cause}`),
    });
  };
  return { file, posts, requests, receiver, failures, run };
}

test("a finding is posted once when it appears and once when it ends, within 15 minutes", async () => {
  const { posts, requests, run } = aReceiver();
  await run(120, (minute) => (minute >= 20 && minute < 70 ? [disk(900 - minute), fine("file", "It is whole.")] : []));
  const finding = { level: "warning", what: "Only 870 MB are free.", advice: "Free some space." };
  const common = { ...finding, since: "2026-05-20T12:30:00.000Z" };
  expect(posts).toEqual([
    { state: "firing", ...common, minute: 30 },
    { state: "resolved", ...common, minute: 75 },
  ]);
  expect(requests.map(({ type }) => type)).toEqual(["application/json", "application/json"]);
});

test.each(["", "{", "null", '"abc"', "[1]", '{"disk":null}'])(
  "if what was posted is recorded as %j, each current finding is posted again",
  async (record) => {
    const { file, posts, run } = aReceiver();
    writeFileSync(file, record);
    await run(10, () => [disk(900)]);
    expect(posts.map(({ state, what }) => [state, what])).toEqual([["firing", "Only 900 MB are free."]]);
  },
);

test("a restart posts nothing again, and resolves findings that ended during the downtime", async () => {
  const { posts, run } = aReceiver();
  await run(10, () => [disk(900), warning("keys", "A key expires.", "")]);
  for (let start = 0; start < 2; start++) await run(10, () => [disk(800)]);
  expect(posts.map(({ state, what }) => [state, what])).toEqual([
    ["firing", "Only 900 MB are free."],
    ["firing", "A key expires."],
    ["resolved", "A key expires."],
  ]);
});

test("a shared finding is posted only while this server sends the shared alerts, and its end only if no other server took over", async () => {
  const { posts, run } = aReceiver();
  const shown = () => posts.splice(0).map(({ state, what }) => [state, what]);
  const both = () => [...shared([warning("cluster", "A node is unreachable.", "")]), disk(900)];
  await run(50, both, {}, (minute) => minute >= 20);
  expect(shown()).toEqual([
    ["firing", "Only 900 MB are free."],
    ["firing", "A node is unreachable."],
  ]);
  await run(20, both, {}, () => false);
  await run(
    20,
    () => [disk(900)],
    {},
    () => false,
  );
  expect(shown()).toEqual([]);
});

test("findings that differ in the digits of a name are posted each, and one whose unit changes is not posted again", async () => {
  const { posts, run } = aReceiver();
  const waiting = (folder: string, files: string) =>
    warning("inbox", `${files} in /inbox/${folder}: waiting, the oldest since 2026-05-20T12:00:00.000Z.`, "");
  const full = (free: string) => warning("disk", `Only ${free} are free on the disk of /data.`, "");
  await run(60, (minute) => [
    waiting("shop-1", minute < 20 ? "1 file" : "2 files"),
    full(minute < 20 ? "950 MB" : "1.1 GB"),
    ...(minute < 20 ? [] : [waiting("shop-2", "1 file")]),
  ]);
  expect(posts.map(({ minute, state, what }) => [minute, state, /shop-\d|disk/.exec(what)?.[0]])).toEqual([
    [0, "firing", "shop-1"],
    [0, "firing", "disk"],
    [30, "firing", "shop-2"],
  ]);
});

test.each([
  [503, "the response was 503"],
  [302, "the response was 302, and redirects are not followed"],
  [308, "the response was 308, and redirects are not followed"],
])("a post that gets %i is repeated with growing pauses until it succeeds", async (status, says) => {
  const { posts, requests, receiver, failures, run } = aReceiver();
  receiver.status = status;
  await run(60, () => [disk(900)]);
  expect(posts).toEqual([]);
  expect(new Set(failures)).toEqual(new Set([`ALERT_URL: Error: ${says}`]));
  expect(requests.length).toBeGreaterThan(4);
  expect(requests.length).toBeLessThan(20);
  receiver.status = 200;
  await run(16, () => [disk(900)]);
  expect(posts.map(({ state }) => state)).toEqual(["firing"]);
});

test("an alert for Slack has a text", async () => {
  const { posts, run } = aReceiver("hooks/T0/B0");
  await run(1, () => [disk(900)]);
  expect(posts).toMatchObject([{ text: "firing (warning): Only 900 MB are free. Free some space." }]);
});

test.each([301, 302, 307, 308])("a %i to another host gets nothing of an alert", async (status) => {
  const reached: string[] = [];
  const other = answering(async (request) => {
    reached.push(await request.text());
    return new Response();
  });
  const origin = answering(() => new Response("", { status, headers: { Location: `${other}/` } }));
  const [way] = readWays({ ALERT_URL: origin });
  await expect(way?.send("firing", anAlert)).rejects.toThrow("redirects are not followed");
  expect(reached).toEqual([]);
});

test("an alert is mailed as well, and each way repeats only what it could not send", async () => {
  const mails = await aMailServer();
  const { posts, receiver, run } = aReceiver();
  receiver.status = 503;
  const settings = { ALERT_MAIL_TO: "owner@example.com", SMTP_URL: mails.url };
  await run(1, () => [disk(900)], settings);
  receiver.status = 200;
  await run(30, (minute) => (minute < 10 ? [disk(900)] : []), settings);
  expect(posts.map(({ state }) => state)).toEqual(["firing", "resolved"]);
  expect(mails.taken.map(({ to, subject }) => [to, subject])).toEqual([
    ["owner@example.com", "[leadfile] firing (warning): Only 900 MB are free."],
    ["owner@example.com", "[leadfile] resolved (warning): Only 900 MB are free."],
  ]);
  expect(mails.taken[0]?.body).toContain("Free some space.");
});

describe("alert test", () => {
  const set = async (settings: Record<string, string>) => anAdmin([], settings).run("alert", "test");

  test("sends one alert in each configured way, and says what each answered", async () => {
    const mails = await aMailServer("user@example.com", "a secret");
    const bodies: unknown[] = [];
    const origin = answering(async (request) => {
      bodies.push(await request.json());
      return new Response("", { status: 202 });
    });
    const server = mails.url.replace("//", `//${encodeURIComponent("user@example.com")}:a%20secret@`);
    const { status, stdout } = await set({ ALERT_URL: origin, ALERT_MAIL_TO: "owner@example.com", SMTP_URL: server });
    expect(stdout).toMatch(/^ALERT_URL: sent \(the response was 202\)\nALERT_MAIL_TO: sent \(250 [^\n]+\)\n$/);
    expect(status).toBe(0);
    expect(bodies).toMatchObject([{ state: "firing", level: "warning", what: expect.stringContaining("test alert") }]);
    expect(mails.taken).toMatchObject([{ from: "user@example.com", to: "owner@example.com" }]);
  });

  test("fails if a way fails, and names its setting and the reason, but no password", async () => {
    const mails = await aMailServer("user", "right");
    const origin = answering(() => new Response("", { status: 410 }));
    const settings = {
      ALERT_URL: origin,
      ALERT_MAIL_TO: "o@example.com",
      SMTP_URL: mails.url.replace("//", "//user:hunter2@"),
    };
    const { status, stdout, stderr } = await set(settings);
    expect(status).toBe(1);
    expect(stdout).toMatch(/^ALERT_URL: failed \(.*410\)\nALERT_MAIL_TO: failed \(.*535.*\)\n$/);
    expect(stdout + stderr).not.toContain("hunter2");
    expect(mails.taken).toEqual([]);
  });

  test.each([
    [{}, "No way to send alerts is configured."],
    [{ ALERT_MAIL_TO: "owner@example.com" }, "SMTP_URL is not set"],
    [{ SMTP_URL: "smtp://localhost" }, "ALERT_MAIL_TO is not set"],
    [{ ALERT_MAIL_TO: "owner", SMTP_URL: "smtp://localhost" }, "ALERT_MAIL_TO is"],
    [
      { ALERT_MAIL_TO: "o@example.com", SMTP_URL: "smtp://h/?tls.rejectUnauthorized=false" },
      "SMTP_URL has an invalid value",
    ],
    [{ ALERT_MAIL_TO: "o@example.com", SMTP_URL: "https://secret@h" }, "SMTP_URL has an invalid value"],
  ])("with the settings %j it is refused", async (settings, says) => {
    const { status, stderr } = await set(settings);
    expect([status, stderr]).toEqual([2, expect.stringContaining(says)]);
    expect(stderr).not.toContain("secret");
  });

  test("without a server for the mail, it says that none was reached, within seconds", async () => {
    const settings = { ALERT_MAIL_TO: "o@example.com", SMTP_URL: `smtp://127.0.0.1:${await aFreePort()}` };
    const { status, stdout } = await set(settings);
    expect([status, stdout]).toEqual([1, expect.stringMatching(/^ALERT_MAIL_TO: failed \(.*ECONNREFUSED/)]);
  });
});

test("a password is not sent to another machine without TLS", async () => {
  const mails = await aMailServer("user", "secret", "127.0.0.1");
  // A name that is not a loopback name, but leads to this machine.
  const host = (await lookup(hostname()).catch(() => null))?.address ?? "";
  if (host === "" || host.startsWith("127.")) return;
  const url = mails.url.replace("127.0.0.1", `user:secret@${host}`);
  const [way] = readWays({ ALERT_MAIL_TO: "o@example.com", SMTP_URL: url });
  await expect(way?.send("firing", anAlert)).rejects.toThrow();
  expect(mails.said.join("")).not.toContain("AUTH");
});

test("alert unit reports a unit that failed, without any other setting, and does nothing without a way", async () => {
  const bodies: unknown[] = [];
  const origin = answering(async (request) => {
    bodies.push(await request.json());
    return new Response();
  });
  const broken = { PORT: "wrong", BACKUP_RECIPIENT: "age1typo" };
  const admin = anAdmin([], { ...broken, ALERT_URL: origin });
  expect((await admin.run("alert", "unit", "leadfile.service")).status).toBe(0);
  const [what, advice] = [
    "The unit leadfile.service failed.",
    expect.stringContaining("journalctl -u leadfile.service"),
  ];
  expect(bodies).toEqual([{ state: "firing", level: "broken", what, advice, since: expect.stringMatching(/Z$/) }]);
  expect(await anAdmin([], broken).run("alert", "unit", "leadfile.service")).toMatchObject({ status: 0, stderr: "" });
});

test("a finding that ends before it could be posted is not posted at all", async () => {
  const { posts, receiver, run } = aReceiver();
  receiver.status = 503;
  await run(20, (minute) => (minute < 10 ? [disk(900)] : []));
  receiver.status = 200;
  await run(20, () => []);
  expect(posts).toEqual([]);
});
