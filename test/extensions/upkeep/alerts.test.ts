/** ALERT_URL: each finding is posted once when it appears and once when it ends, also across restarts and failures. */
import { expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { keepAlerting } from "../../../extensions/upkeep/alerts.ts";
import { type Finding, fine, warning } from "../../../src/cli/doctor/finding.ts";
import { answering } from "../../support/answering.ts";
import { aFolder } from "../../support/folder.ts";

const minuteMs = 60_000;
const disk = (free: number): Finding => warning("disk", `Only ${free} MB are free.`, "Free some space.");

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
    const [, moved] = /\/moved-(\d+)$/.exec(request.url) ?? [];
    if (moved !== undefined) return new Response("", { status: Number(moved), headers: { Location: "/" } });
    requests.push({ minute: minuteNow(), type: request.headers.get("Content-Type") });
    const body: Omit<Post, "minute"> = JSON.parse(await request.text());
    if (receiver.status === 200) posts.push({ ...body, minute: minuteNow() });
    return new Response("", { status: receiver.status, headers: { Location: "/" } });
  });
  const file = join(aFolder(), "leadfile.db.alerts");
  /** Runs for some minutes; what the doctor finds depends on the minute. */
  const run = (minutes: number, find: (minute: number) => Finding[]) => {
    const endMs = clock.nowMs + minutes * minuteMs;
    return keepAlerting({
      url: `${origin}/${path}`,
      file,
      now: () => clock.nowMs,
      async pause(ms) {
        clock.nowMs += Math.max(ms, 1);
        return clock.nowMs >= endMs;
      },
      find: async () => find(minuteNow()),
      onFailure: (cause) => failures.push(String(cause)),
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

test.each([503, 302])("a post that gets %i is repeated with growing pauses until it succeeds", async (status) => {
  const { posts, requests, receiver, failures, run } = aReceiver();
  receiver.status = status;
  await run(60, () => [disk(900)]);
  expect(posts).toEqual([]);
  expect(new Set(failures)).toEqual(new Set([`Error: the answer was ${status}`]));
  expect(requests.length).toBeGreaterThan(4);
  expect(requests.length).toBeLessThan(20);
  receiver.status = 200;
  await run(16, () => [disk(900)]);
  expect(posts.map(({ state }) => state)).toEqual(["firing"]);
});

test.each([
  ["an address to which a 307 leads", "moved-307", {}],
  ["an address to which a 308 leads", "moved-308", {}],
  ["a Slack webhook, with a text", "hooks/T0/B0", { text: "firing (warning): Only 900 MB are free. Free some space." }],
])("an alert is posted to %s", async (_, path, more) => {
  const { posts, run } = aReceiver(path);
  await run(1, () => [disk(900)]);
  expect(posts).toMatchObject([{ state: "firing", what: "Only 900 MB are free.", ...more }]);
});

test("a finding that ends before it could be posted is not posted at all", async () => {
  const { posts, receiver, run } = aReceiver();
  receiver.status = 503;
  await run(20, (minute) => (minute < 10 ? [disk(900)] : []));
  receiver.status = 200;
  await run(20, () => []);
  expect(posts).toEqual([]);
});
