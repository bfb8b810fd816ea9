/** The times that imported leads get: unique, never lost to a client that polls, never guessed. */
import { describe, expect, test } from "bun:test";
import { anAdmin } from "../support/admin.ts";

const px = ["--pixel", "px"];
const minutesFromNow = (minutes: number) => new Date(Date.now() + minutes * 60_000).toISOString();
const timesOf = async (admin: ReturnType<typeof anAdmin>) =>
  (await admin.leads()).map(({ identified_at }) => identified_at);

test("leads of the same time follow one another by milliseconds in the order of the file, and are counted", async () => {
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

describe("a row without a time", () => {
  test("gets the time of the import, in file order, and is not counted as moved", async () => {
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

  test("is later than the newest lead of its account, whatever the clock says", async () => {
    const admin = anAdmin();
    await admin.import(`time,email\n${minutesFromNow(4)},a@example.com\n`, ...px);
    const [newest] = await timesOf(admin);
    await admin.import("email\nb@example.com\n", ...px);
    const [, after] = await timesOf(admin);
    expect(Date.parse(after ?? "")).toBeGreaterThan(Date.parse(newest ?? ""));
  });
});

test("a time up to five minutes in the future becomes the current time, and a later one is rejected", async () => {
  const admin = anAdmin();
  const rows = `time,email\n${minutesFromNow(4)},a@example.com\n${minutesFromNow(6)},b@example.com\n`;
  const { json, status } = await admin.import(rows, ...px);
  expect({ ...json, status }).toMatchObject({ imported: 1, moved: 1, rejected: 1, status: 3 });
  const [lead] = await timesOf(admin);
  expect(Date.parse(lead ?? "")).toBeLessThanOrEqual(Date.now());
});

describe("--stamp arrival", () => {
  const rows = `time,email\n2026-01-31,a@example.com\n2026-01-30,b@example.com\n${minutesFromNow(60)},c@example.com\n`;

  test("gives every row the time of the import, so that polling clients receive it", async () => {
    const admin = anAdmin();
    await admin.import("time,email\n2026-02-01,z@example.com\n", ...px);
    const begunMs = Date.now();
    const { json } = await admin.import(rows, ...px, "--stamp", "arrival");
    expect(json).toMatchObject({ imported: 3, moved: 0, late: 0, rejected: 0 });
    const leads = (await admin.leads()).slice(1);
    expect(leads.map(({ email }) => email?.[0])).toEqual(["a", "b", "c"]);
    for (const { identified_at } of leads) expect(Date.parse(identified_at)).toBeGreaterThanOrEqual(begunMs);
  });

  test("recognizes the same rows, and still rejects a wrong date", async () => {
    const admin = anAdmin();
    await admin.import(rows, ...px, "--stamp", "arrival");
    expect((await admin.import(rows, ...px, "--stamp", "arrival")).json).toMatchObject({ imported: 0, duplicates: 3 });
    expect((await admin.import("time,email\nnever,x@example.com\n", ...px, "--stamp", "arrival")).json).toMatchObject({
      rejected: 1,
    });
  });
});

test("--timezone and --day-first apply to times without an offset", async () => {
  const admin = anAdmin();
  const text = "date,email\n01/02/2026 9:15 AM,a@example.com\n";
  await admin.import(text, ...px, "--day-first", "--timezone", "America/New_York");
  expect(await timesOf(admin)).toEqual(["2026-02-01T14:15:00.000Z"]);
});

describe("numeric dates are read in one order for a whole column", () => {
  const dated = (...dates: string[]) => `email,date\n${dates.map((date, n) => `v${n}@example.com,${date}\n`).join("")}`;
  const importing = async (text: string, ...options: string[]) => {
    const admin = anAdmin();
    const ended = await admin.import(text, ...px, ...options);
    const { status, stderr } = ended;
    const leads = status === 1 ? [] : await admin.leads();
    return {
      status,
      stderr,
      json: status === 1 ? null : ended.json,
      days: leads.map(({ identified_at }) => identified_at.slice(0, 10)),
    };
  };

  test.each([
    ["the day first", ["05/10/2025", "25/10/2025", "06/10/2025"], ["2025-10-05", "2025-10-06", "2025-10-25"]],
    ["the month first", ["05/10/2025", "05/25/2025", "06/10/2025"], ["2025-05-10", "2025-05-25", "2025-06-10"]],
    ["the day first, with dots", ["05.10.2025 09:00", "25.10.2025 09:00"], ["2025-10-05", "2025-10-25"]],
    ["either order, where both are the same day", ["10/10/2025", "2025-10-11"], ["2025-10-10", "2025-10-11"]],
  ])("%s, if one date shows it anywhere in the column", async (_, dates, days) => {
    expect(await importing(dated(...dates))).toMatchObject({ status: 0, days });
    expect(await importing(dated(...dates.toReversed()))).toMatchObject({ status: 0, days });
  });

  test("rejects a column of ambiguous dates once, with the flags", async () => {
    const text = dated("05/10/2025", "06/10/2025", "2025-10-05");
    const { status, stderr } = await importing(text);
    expect(status).toBe(1);
    expect(stderr).toMatch(
      /The dates of "date" can be day first or month first .*Nothing was imported\. .*--day-first or --month-first/,
    );
    expect(await importing(text, "--day-first")).toMatchObject({ days: ["2025-10-05", "2025-10-05", "2025-10-06"] });
    expect(await importing(text, "--month-first")).toMatchObject({ days: ["2025-05-10", "2025-06-10", "2025-10-05"] });
  });

  test("rejects a contradictory column, and a flag rejects the dates of the other order", async () => {
    const text = dated("25/10/2025", "05/10/2025", "10/25/2025");
    const { status, stderr } = await importing(text);
    expect([status, stderr]).toEqual([1, expect.stringMatching(/line 2 can only have the day first.*line 4/)]);
    expect(await importing(text, "--day-first")).toMatchObject({ status: 3, days: ["2025-10-05", "2025-10-25"] });
  });

  test("a value that is no date in either order rejects its row alone", async () => {
    expect(await importing(dated("31/31/2025", "25/10/2025"))).toMatchObject({ status: 3, days: ["2025-10-25"] });
  });

  test("a date decides the order even if its row is rejected", async () => {
    const { status, days } = await importing(`email,date\na@example.com,05/10/2025\n,25/10/2025\n`);
    expect([status, days]).toEqual([3, ["2025-10-05"]]);
  });

  test("a date decides the order of its column even if its row takes another time", async () => {
    const rows = ["a@example.com,,05/10/2025", "b@example.com,2025-11-01,25/10/2025"];
    const { status, days } = await importing(`email,last_seen,first_seen\n${rows.join("\n")}\n`);
    expect([status, days]).toEqual([0, ["2025-10-05", "2025-11-01"]]);
  });

  test("a contradictory column that no lead takes its time from is no reason to refuse", async () => {
    const rows = ["a@example.com,2025-11-01T09:00:00Z,25/10/2025", "b@example.com,2025-11-02T09:00:00Z,10/25/2025"];
    const { status, days } = await importing(`email,last_seen,first_seen\n${rows.join("\n")}\n`);
    expect([status, days]).toEqual([0, ["2025-11-01", "2025-11-02"]]);
    const used = `email,last_seen,first_seen\n${rows.join("\n")}\nc@example.com,,05/10/2025\n`;
    expect(await importing(used)).toMatchObject({ status: 1, stderr: expect.stringContaining("contradict") });
  });

  test("each column has its own order", async () => {
    const rows = ["a@example.com,25/10/2025,", "b@example.com,,10/05/2025", "c@example.com,,10/25/2025"];
    const { days } = await importing(`email,last_seen,first_seen\n${rows.join("\n")}\n`);
    expect(days).toEqual(["2025-10-05", "2025-10-25", "2025-10-25"]);
  });

  test("--stamp arrival rejects no ambiguous date", async () => {
    expect(await importing(dated("05/10/2025", "25/10/2025", "10/25/2025"), "--stamp", "arrival")).toMatchObject({
      status: 0,
      json: { imported: 3 },
    });
  });
});

describe("a doubtful time column", () => {
  test.each([
    ["by its name", "email,Updated At\nd@example.com,2026-01-31\n", "Updated At"],
    ["by its values", "email,Zeitpunkt\nd@example.com,2026-01-31 09:15\nl@example.com,2026-01-31 09:16\n", "Zeitpunkt"],
    ["by the last word of its name", "email,Renewal Date\nd@example.com,2026-01-31\n", "Renewal Date"],
    ["next to an empty one", "date,email,Updated At\n,d@example.com,2026-01-31\n", "Updated At"],
    ["in JSON next to null", '{"email":"d@example.com","date":null,"zeitpunkt":"2026-01-31T09:15:00Z"}\n', "zeitpunkt"],
    ["in JSON", '{"email":"d@example.com","zeitpunkt":"2026-01-31T09:15:00Z"}\n', "zeitpunkt"],
  ])("%s: without a terminal, the import is rejected with the flags that settle it", async (_, text, name) => {
    const admin = anAdmin();
    const { status, stderr } = await admin.import(text, ...px);
    expect([status, stderr]).toEqual([1, expect.stringContaining(`${name}=identified_at`)]);
    expect(stderr).toContain("--stamp arrival");
    expect(await admin.leads()).toEqual([]);
    expect(await admin.import(text, ...px, "--stamp", "arrival")).toMatchObject({ status: 0 });
    expect(await admin.import(text, ...px, "--map", `${name}=identified_at`)).toMatchObject({ status: 0 });
  });

  test.each([
    ["a time of something else", "email,Account Created At\nd@example.com,2026-01-31\n"],
    ["a time of a profile", "Email,First Name,Last Name,City,Created\nd@example.com,D,W,Reno,2026-01-31\n"],
    ["a number", "email,Time on Site\nd@example.com,35\n"],
    ["next to a time", "date,email,Updated At\n2026-01-30,d@example.com,2026-01-31\n"],
    ["next to times of most rows", "date,email,Updated At\n2026-01-30,d@example.com,\n,l@example.com,2026-01-31\n"],
  ])("is not %s", async (_, text) => {
    expect(await anAdmin().import(text, ...px)).toMatchObject({ status: 0, json: { rejected: 0 } });
  });
});
