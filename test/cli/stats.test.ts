/** bun admin stats: leads per day, by pixel, state and source, and requests per key and day. */
import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { chart } from "../../src/cli/stats/bars.ts";
import { dayMs, dayOf } from "../../src/contract/calendar.ts";
import { writeMoment } from "../../src/contract/time.ts";
import { type Admin, anAdmin } from "../support/admin.ts";

const nowMs = Date.parse("2026-05-20T09:15:00Z");
const today = dayOf(nowMs);
const daysAgo = (days: number) => writeMoment(nowMs - days * dayMs);
const anAccount = () => anAdmin(["acme"], {}, nowMs);

function widest(text: string): number {
  return Math.max(...text.split("\n").map((line) => Bun.stringWidth(line)));
}

async function withLeads(rows: readonly string[]): Promise<Admin> {
  const admin = anAccount();
  const header = "email,identified_at,pixel_id,state,traffic_source";
  await admin.import([header, ...rows].join("\n"));
  return admin;
}

test("an account without leads says so, in a line and in empty lists", async () => {
  const admin = anAccount();
  expect((await admin.run("stats", "acme")).stdout).toBe("acme has no leads yet.\n");
  expect((await admin.run("stats", "acme", "--days", "2", "--json")).json).toMatchObject({
    leads: { all: 0, in_period: 0 },
    by_day: [{ leads: 0 }, { day: today, leads: 0 }],
    by_pixel: [],
    by_state: [],
    by_source: [],
    requests: [],
  });
});

test.each([
  [40, "; try --days 60"],
  [80, "; try --days 90"],
  [4_000, ""],
])("a period before which the newest lead came, by %d days, says when it came", async (days, advice) => {
  const admin = await withLeads([`a@example.com,${daysAgo(days)},px_a,CA,google`]);
  const { stdout } = await admin.run("stats", "acme");
  expect(stdout).toStartWith("acme: 0 of 1 leads are from 2026-04-21 to 2026-05-20 (UTC).\n\n");
  expect(stdout).toContain(`The newest lead is from ${daysAgo(days).slice(0, 10)}${advice}.\n`);
});

test("--json has every day of the period, and the largest of everything first", async () => {
  const admin = await withLeads([
    `a@example.com,${daysAgo(2)},px_a,CA,google`,
    `b@example.com,${daysAgo(2)},px_b,CA,google`,
    `c@example.com,${daysAgo(0)},px_b,,google`,
    `d@example.com,${daysAgo(40)},px_b,TX,mail`,
  ]);
  const { json, stderr, status } = await admin.run("stats", "acme", "--days", "3", "--json");
  expect(json).toMatchObject({
    from: daysAgo(2).slice(0, 10),
    to: today,
    leads: { all: 4, in_period: 3 },
    by_day: [{ day: daysAgo(2).slice(0, 10), leads: 2 }, { leads: 0 }, { day: today, leads: 1 }],
    by_pixel: [
      { pixel_id: "px_b", leads: 2 },
      { pixel_id: "px_a", leads: 1 },
    ],
    by_state: [
      { state: "CA", leads: 2 },
      { state: null, leads: 1 },
    ],
    by_source: [{ traffic_source: "google", leads: 3 }],
  });
  expect([stderr, status]).toEqual(["", 0]);
});

test("one lead makes charts of one full bar, in 80 columns and without colour", async () => {
  const admin = await withLeads([`a@example.com,${daysAgo(0)},px_${"long".repeat(40)},CA,mail`]);
  const { stdout } = await admin.run("stats", "acme");
  for (const title of ["Leads per day", "Leads by pixel", "Leads by state", "Leads by source"]) {
    expect(stdout).toContain(title);
  }
  expect(stdout).toMatch(new RegExp(`^${today}  1  █+$`, "m"));
  expect(widest(stdout)).toBe(80);
  expect(stdout).not.toContain("\u001b");
});

test("on a narrow terminal the bars and the labels are shorter", () => {
  const bars = [
    { label: "2026-05-20", count: 1234 },
    { label: "a label that is long", count: 2 },
  ];
  expect(chart(bars, 40)).toBe(`2026-05-20    1,234  ${"█".repeat(19)}\na label tha…      2  ▏`);
  expect(widest(chart(bars, 20))).toBe(20);
});

test("control characters and wide letters keep to their columns", async () => {
  const admin = await withLeads([
    `a@example.com,${daysAgo(0)},px,CA,${"検索".repeat(20)}`,
    `b@example.com,${daysAgo(0)},px,CA,"\u001b[31mred\u009b"`,
  ]);
  const { stdout } = await admin.run("stats", "acme");
  for (const control of ["\u001b", "\u009b"]) expect(stdout).not.toContain(control);
  expect(widest(stdout)).toBeLessThanOrEqual(80);
});

test("a long period is shown by month, and many states as the largest and the others", async () => {
  const states = "AL AK AZ AR CA CO CT DE FL GA HI ID".split(" ");
  const admin = await withLeads(states.map((state, place) => `v${place}@example.com,${daysAgo(0)},px,${state},mail`));
  const { stdout } = await admin.run("stats", "acme", "--days", "400");
  expect(stdout).toContain("Leads per month");
  expect(stdout).toMatch(new RegExp(`^${today.slice(0, 7)}  12  █`, "m"));
  // A bar of all others together would make each of the rest a sliver.
  expect(stdout).toMatch(/^3 others +3$/m);
  expect(stdout).toMatch(/^AK +1 +█{60}/m);
});

test("days before the first lead or request take no lines, and later ones do", async () => {
  const admin = await withLeads([`a@example.com,${daysAgo(2)},px,CA,mail`, `b@example.com,${daysAgo(0)},px,CA,mail`]);
  const { stdout } = await admin.run("stats", "acme");
  const [days = ""] = stdout.split("Leads per day\n")[1]?.split("\n\n") ?? [];
  expect(days.split("\n").map((line) => line.split(" ", 1)[0])).toEqual(
    [2, 1, 0].map((ago) => daysAgo(ago).slice(0, 10)),
  );
});

test("requests are shown per key and day, with the label of the key", async () => {
  const admin = await withLeads([`a@example.com,${daysAgo(0)},px,CA,mail`]);
  const { id } = (await admin.run("key", "create", "acme", "--label", "crm", "--json")).json;
  using database = new Database(admin.file);
  database.run(`INSERT INTO usage (key, day, requests) VALUES (1, '${today}', 1234), (1, '2020-01-01', 9)`);
  const { stdout } = await admin.run("stats", "acme");
  expect(stdout).toContain(`Requests of ${id} (crm) per day`);
  expect(stdout).toMatch(new RegExp(`^${today}  1,234  █`, "m"));
  expect((await admin.run("stats", "acme", "--json")).json["requests"]).toEqual([
    { key: id, prefix: expect.stringMatching(/^lf_/), label: "crm", day: today, requests: 1234 },
  ]);
});

test.each(["0", "-1", "3661", "1e1", "ten", ""])("--days %j is refused with status 2", async (days) => {
  const { status, stderr, stdout } = await anAdmin().run("stats", "acme", `--days=${days}`);
  expect(status).toBe(2);
  expect(stderr).toMatch(/^[^\n]*--days[^\n]*\n$/);
  expect(stdout).toBe("");
});

test("leads and requests of other accounts are in nobody else's numbers", async () => {
  const admin = await withLeads([`a@example.com,${daysAgo(0)},px,CA,mail`]);
  await admin.run("key", "create", "acme");
  using database = new Database(admin.file);
  database.run(`INSERT INTO usage (key, day, requests) VALUES (1, '${today}', 1234)`);
  await admin.run("account", "create", "other");
  expect((await admin.run("stats", "other", "--json")).json).toMatchObject({
    leads: { all: 0, in_period: 0 },
    by_pixel: [],
    by_state: [],
    by_source: [],
    requests: [],
  });
});
