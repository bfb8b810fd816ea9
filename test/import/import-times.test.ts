/** The times that imported leads get: unique, never lost to a client that polls, never guessed. */
import { describe, expect, test } from "bun:test";
import { anAdmin } from "../support/admin.ts";

const px = ["--pixel", "px"];
const minutesFromNow = (minutes: number) => new Date(Date.now() + minutes * 60_000).toISOString();
const timesOf = async (admin: ReturnType<typeof anAdmin>) =>
  (await admin.leads()).map(({ identified_at }) => identified_at);

test("leads of the same moment follow one another by milliseconds in the order of the file, and are counted", async () => {
  const admin = anAdmin();
  const rows = ["a", "b", "c"].map((name) => `2026-01-31 09:15:00,${name}@example.com\n`).join("");
  const { json } = await admin.import(`time,email\n${rows}`, ...px);
  expect(json).toMatchObject({ imported: 3, moved: 2 });
  const leads = await admin.leads();
  expect(leads.map(({ identified_at, email }) => [identified_at, email])).toEqual([
    ["2026-01-31T09:15:00.000Z", "a@example.com"],
    ["2026-01-31T09:15:00.001Z", "b@example.com"],
    ["2026-01-31T09:15:00.002Z", "c@example.com"],
  ]);
});

test("finer times are cut to the millisecond, and that alone is no move", async () => {
  const admin = anAdmin();
  const { json } = await admin.import("time,email\n2026-01-31T09:15:00.123999Z,a@example.com\n", ...px);
  expect(json).toMatchObject({ imported: 1, moved: 0 });
  expect(await timesOf(admin)).toEqual(["2026-01-31T09:15:00.123Z"]);
});

test("leads older than the newest that was there are late, those of the same import are not", async () => {
  const admin = anAdmin();
  const rows = "time,email\n2026-01-31,a@example.com\n2026-01-30,b@example.com\n";
  expect((await admin.import(rows, ...px)).json).toMatchObject({ imported: 2, late: 0 });
  const more = "time,email\n2026-01-29,c@example.com\n2026-02-01,d@example.com\n2026-01-31T12:00:00Z,e@example.com\n";
  expect((await admin.import(more, ...px)).json).toMatchObject({ imported: 3, late: 1 });
});

describe("a row without a time", () => {
  test("gets that of the import, in the order of the file, and is not counted as moved", async () => {
    const admin = anAdmin();
    const begunMs = Date.now();
    const { json } = await admin.import("email\na@example.com\nb@example.com\nc@example.com\n", ...px);
    expect(json).toMatchObject({ imported: 3, moved: 0, late: 0 });
    const leads = await admin.leads();
    expect(leads.map(({ email }) => email?.[0])).toEqual(["a", "b", "c"]);
    const times = leads.map(({ identified_at }) => Date.parse(identified_at));
    expect(Math.min(...times)).toBeGreaterThanOrEqual(begunMs);
    expect(Math.max(...times)).toBeLessThan(Date.now() + 1000);
  });

  test("lies behind the newest lead of its account, whatever the clock says", async () => {
    const admin = anAdmin();
    await admin.import(`time,email\n${minutesFromNow(4)},a@example.com\n`, ...px);
    const [newest] = await timesOf(admin);
    await admin.import("email\nb@example.com\n", ...px);
    const [, after] = await timesOf(admin);
    expect(Date.parse(after ?? "")).toBeGreaterThan(Date.parse(newest ?? ""));
  });
});

test("a time up to five minutes ahead is taken as now and counted, one further ahead is rejected", async () => {
  const admin = anAdmin();
  const rows = `time,email\n${minutesFromNow(4)},a@example.com\n${minutesFromNow(6)},b@example.com\n`;
  const { json, status } = await admin.import(rows, ...px);
  expect({ ...json, status }).toMatchObject({ imported: 1, moved: 1, rejected: 1, status: 3 });
  const [lead] = await timesOf(admin);
  expect(Date.parse(lead ?? "")).toBeLessThanOrEqual(Date.now());
});

describe("--stamp arrival", () => {
  const rows = `time,email\n2026-01-31,a@example.com\n2026-01-30,b@example.com\n${minutesFromNow(60)},c@example.com\n`;

  test("gives every row the time of the import, so that nobody who polls misses it", async () => {
    const admin = anAdmin();
    await admin.import("time,email\n2026-02-01,z@example.com\n", ...px);
    const begunMs = Date.now();
    const { json } = await admin.import(rows, ...px, "--stamp", "arrival");
    expect(json).toMatchObject({ imported: 3, moved: 0, late: 0, rejected: 0 });
    const leads = (await admin.leads()).slice(1);
    expect(leads.map(({ email }) => email?.[0])).toEqual(["a", "b", "c"]);
    for (const { identified_at } of leads) expect(Date.parse(identified_at)).toBeGreaterThanOrEqual(begunMs);
  });

  test("knows the same rows again, and still rejects a wrong date", async () => {
    const admin = anAdmin();
    await admin.import(rows, ...px, "--stamp", "arrival");
    expect((await admin.import(rows, ...px, "--stamp", "arrival")).json).toMatchObject({ imported: 0, duplicates: 3 });
    expect((await admin.import("time,email\nnever,x@example.com\n", ...px, "--stamp", "arrival")).json).toMatchObject({
      rejected: 1,
    });
  });
});

test("--timezone and --day-first say how times without an offset are meant", async () => {
  const admin = anAdmin();
  const text = "date,email\n01/02/2026 9:15 AM,a@example.com\n";
  await admin.import(text, ...px, "--day-first", "--timezone", "America/New_York");
  expect(await timesOf(admin)).toEqual(["2026-02-01T14:15:00.000Z"]);
});

test("a wrong date rejects its row with the date in the reason, and no other", async () => {
  const admin = anAdmin();
  const { json, status, stderr } = await admin.import(
    "date,email\n02/30/2026,a@example.com\n2026-01-31,b@example.com\n",
    ...px,
  );
  expect({ ...json, status }).toMatchObject({ imported: 1, rejected: 1, status: 3 });
  expect(stderr).toMatch(/^Line 2 was rejected: .*"02\/30\/2026"/m);
});

describe("dates whose day and month may be the other way round are warned of", () => {
  const dated = (...dates: string[]) => `email,date\n${dates.map((date, n) => `v${n}@example.com,${date}`).join("\n")}`;
  const doubts = /\d+ dates? (?:was|were) read with the (?:day|month) first/;

  test.each([
    ["the day first", [], ["25/10/2025 09:00", "05/10/2025 09:00"], "Add --day-first."],
    ["the month first", ["--day-first"], ["10/05/25", "10/25/25"], "Leave out --day-first."],
  ])("where the others can only have %s", async (_, options, dates, advice) => {
    const { json, status, stderr } = await anAdmin().import(dated(...dates), "--pixel", "px", ...options);
    expect({ ...json, status }).toMatchObject({ imported: 1, rejected: 1, status: 3 });
    expect([stderr.match(doubts)?.[0], stderr]).toEqual([
      expect.stringContaining("1 date was"),
      expect.stringContaining(advice),
    ]);
  });

  test.each([
    ["where dates of both orders stand in it", ["25/10/2025", "05/10/2025", "10/25/2025"]],
    ["where none can be read either way", ["25/10/2025", "10/10/2025"]],
    ["where all can", ["05/10/2025", "06/10/2025"]],
    ["where one is on no calendar", ["31/31/2025", "05/10/2025"]],
  ])("but not %s", async (_, dates) => {
    expect((await anAdmin().import(dated(...dates), "--pixel", "px")).stderr).not.toMatch(doubts);
  });

  test("nor where leads get the time of their arrival", async () => {
    const dates = dated("25/10/2025", "05/10/2025");
    expect((await anAdmin().import(dates, "--pixel", "px", "--stamp", "arrival")).stderr).not.toMatch(doubts);
  });
});
