/** The times that imported leads get: never guessed, and that of the import if they have none. */
import { describe, expect, test } from "bun:test";
import { formatTime } from "../../src/contract/time.ts";
import { arrivalLine } from "../../src/import/parse/json.ts";
import { anAdmin } from "../support/admin.ts";
import { noonMs } from "../support/builders.ts";

const px = ["--pixel", "px"];
const arrival = ["--stamp", "arrival"];

/** Imports a text at noon. Gives the status, the messages, and of the leads the names and times. */
async function importing(text: string, ...options: readonly string[]) {
  const admin = anAdmin(["acme"], {}, noonMs);
  const ended = await admin.import(text, ...px, ...options);
  const leads = await admin.leads();
  return {
    admin,
    status: ended.status,
    stderr: ended.stderr,
    json: ended.status === 1 ? null : ended.json,
    names: leads.map(({ email }) => email?.[0]).join(""),
    times: leads.map(({ identified_at }) => identified_at),
    days: leads.map(({ identified_at }) => identified_at.slice(0, 10)),
  };
}

test.each([
  ["without a time", "email\na@example.com\nb@example.com\nc@example.com\n", []],
  [
    "with --stamp arrival",
    `date,email\n2026-01-31,a@example.com\n2026-01-30,b@example.com\n2026-02-02,c@e.org\n`,
    arrival,
  ],
])(
  "rows %s get the time of the import in the order of the file, and are not counted as moved",
  async (_, text, options) => {
    const { admin, json, names, times } = await importing(text, ...options);
    expect(json).toMatchObject({ imported: 3, moved: 0, late: 0, rejected: 0 });
    expect([names, times]).toEqual(["abc", [noonMs, noonMs + 1, noonMs + 2].map(formatTime)]);
    expect((await admin.import(text, ...px, ...options)).json).toMatchObject({ imported: 0, duplicates: 3 });
  },
);

test("a time up to five minutes in the future becomes the current time, and a later one is rejected", async () => {
  const text = `time,email\n${formatTime(noonMs + 300_000)},a@example.com\n${formatTime(noonMs + 300_001)},b@example.com\n`;
  expect(await importing(text)).toMatchObject({
    status: 3,
    json: { imported: 1, moved: 1, rejected: 1 },
    times: [formatTime(noonMs)],
  });
});

test("--stamp arrival rejects a wrong date, and no ambiguous one", async () => {
  const dates = ["never", "05/10/2025", "25/10/2025", "10/25/2025"].map((date) => `${date},${date}@example.com\n`);
  expect((await importing(`date,email\n${dates.join("")}`, ...arrival)).json).toMatchObject({
    imported: 3,
    rejected: 1,
  });
});

test("--timezone and --day-first apply to times without an offset", async () => {
  const text = "date,email\n01/02/2025 9:15 AM,a@example.com\n";
  const { times } = await importing(text, "--day-first", "--timezone", "America/New_York");
  expect(times).toEqual(["2025-02-01T14:15:00.000Z"]);
});

const dated = (...dates: string[]) => `email,date\n${dates.map((date, n) => `v${n}@example.com,${date}\n`).join("")}`;
/** Of two columns, the first is preferred. */
const seen = (...rows: string[]) =>
  `email,last_seen,first_seen\n${rows.map((row, n) => `v${n}@example.com,${row}\n`).join("")}`;
const ambiguous = dated("05/10/2025", "06/10/2025", "2025-10-05");
const contradictory = dated("25/10/2025", "05/10/2025", "10/25/2025");
const unused = ["2025-11-01T09:00:00Z,25/10/2025", "2025-11-02T09:00:00Z,10/25/2025"];

describe("numeric dates are read in one order for a whole column", () => {
  test.each<[what: string, text: string, days: readonly string[], options?: readonly string[], status?: number]>([
    ["day first", dated("05/10/2025", "25/10/2025", "06/10/2025"), ["2025-10-05", "2025-10-06", "2025-10-25"]],
    ["day first if the last date shows it", dated("05/10/2025", "25/10/2025"), ["2025-10-05", "2025-10-25"]],
    ["month first", dated("05/25/2025", "05/10/2025", "06/10/2025"), ["2025-05-10", "2025-05-25", "2025-06-10"]],
    ["day first, with dots", dated("05.10.2025 09:00", "25.10.2025 09:00"), ["2025-10-05", "2025-10-25"]],
    ["in either order if both are the same day", dated("10/10/2025", "2025-10-11"), ["2025-10-10", "2025-10-11"]],
    ["day first with the flag", ambiguous, ["2025-10-05", "2025-10-05", "2025-10-06"], ["--day-first"]],
    ["month first with the flag", ambiguous, ["2025-05-10", "2025-06-10", "2025-10-05"], ["--month-first"]],
    ["as the flag says, and other dates are rejected", contradictory, ["2025-10-05", "2025-10-25"], ["--day-first"], 3],
    [
      "and a value that is no date in either order is rejected",
      dated("31/31/2025", "25/10/2025"),
      ["2025-10-25"],
      [],
      3,
    ],
    ["also by a rejected row", "email,date\na@example.com,05/10/2025\n,25/10/2025\n", ["2025-10-05"], [], 3],
    ["also by a row with another time", seen(",05/10/2025", "2025-11-01,25/10/2025"), ["2025-10-05", "2025-11-01"]],
    ["and contradictions do not matter in an unused column", seen(...unused), ["2025-11-01", "2025-11-02"]],
    ["for each column", seen("25/10/2025,", ",10/05/2025", ",10/25/2025"), ["2025-10-05", "2025-10-25", "2025-10-25"]],
  ])("%s", async (_, text, days, options = [], status = 0) => {
    expect(await importing(text, ...options)).toMatchObject({ status, days });
  });

  test.each([
    [
      "an ambiguous column is refused once, with the flags",
      ambiguous,
      /The dates of "date" can be day first or month first .*Nothing was imported\. .*--day-first or --month-first/,
    ],
    ["a contradictory column is refused", contradictory, /line 2 can only have the day first.*line 4/],
    [
      "a contradictory column is refused if one lead takes its time from it",
      seen(...unused, ",05/10/2025"),
      /contradict/,
    ],
  ])("%s", async (_, text, reason) => {
    expect(await importing(text)).toMatchObject({ status: 1, stderr: expect.stringMatching(reason), days: [] });
  });
});

describe("a doubtful time column", () => {
  test.each([
    ["by its name", "email,Updated At\nd@example.com,2026-01-31\n", "Updated At"],
    [
      "of a record that is the person",
      "Email,First Name,City,URL,Created\nd@example.com,D,Reno,/a,2026-01-31\n",
      "Created",
    ],
    ["by its values", "email,Zeitpunkt\nd@example.com,2026-01-31 09:15\nl@example.com,2026-01-31 09:16\n", "Zeitpunkt"],
    ["by the last word of its name", "email,Renewal Date\nd@example.com,2026-01-31\n", "Renewal Date"],
    ["next to an empty one", "date,email,Updated At\n,d@example.com,2026-01-31\n", "Updated At"],
    ["in JSON next to null", '{"email":"d@example.com","date":null,"zeitpunkt":"2026-01-31T09:15:00Z"}\n', "zeitpunkt"],
    ["of Unix seconds", "email,submittedAt\nd@example.com,1769850900\n", "submittedAt"],
    ["of Unix milliseconds", '{"email":"d@example.com","submitted_at":1769850900000}\n', "submitted_at"],
    ["of Unix microseconds", "email,joinedOn\nd@example.com,1769850900000000\n", "joinedOn"],
    ["in JSON", '{"email":"d@example.com","zeitpunkt":"2026-01-31T09:15:00Z"}\n', "zeitpunkt"],
  ])("%s: without a terminal, the import is rejected with the flags that settle it", async (_, text, name) => {
    const { admin, status, stderr, names } = await importing(text);
    expect([status, stderr, names]).toEqual([1, expect.stringContaining(`${name}=identified_at`), ""]);
    expect(stderr).toContain("--stamp arrival");
    expect(await admin.import(text, ...px, ...arrival)).toMatchObject({ status: 0 });
    expect(await admin.import(text, ...px, "--map", `${name}=identified_at`)).toMatchObject({ status: 0 });
  });

  test("all of them are named", async () => {
    const { stderr } = await importing(
      "email,Zeit,Updated At,Zeitpunkt\nd@example.com,2026-01-30,2026-01-31,2026-01-31\n",
    );
    const told = stderr.replaceAll(/\s+/g, " ");
    expect(told).toContain('"Zeit", "Updated At", and "Zeitpunkt" look like times.');
    expect(told).toContain(
      "--map Zeit=identified_at or --map 'Updated At=identified_at' or --map Zeitpunkt=identified_at",
    );
  });

  test.each([
    ["a time of something else", "email,Account Created At\nd@example.com,2026-01-31\n"],
    ["a birthday", "email,Date of Birth\nd@example.com,1976-01-31\n"],
    ["a birthday in one word", "email,dateofbirth\nd@example.com,1976-01-31\n"],
    ["a birthday in German", "email,Geburtsdatum\nd@example.com,31.01.1976\n"],
    ["a birthday in French", "email,Date de naissance\nd@example.com,31/01/1976\n"],
    ["a birthday in Spanish", "email,Fecha de nacimiento\nd@example.com,31/01/1976\n"],
    ["a number", "email,Time on Site\nd@example.com,35\n"],
    ["a number of ten digits that is no Unix time", "email,Called On\nd@example.com,7025550142\n"],
    ["next to a time", "date,email,Updated At\n2026-01-30,d@example.com,2026-01-31\n"],
    ["next to times of most rows", "date,email,Updated At\n2026-01-30,d@example.com,\n,l@example.com,2026-01-31\n"],
  ])("is not %s", async (_, text) => {
    expect(await importing(text)).toMatchObject({ status: 0, json: { rejected: 0 } });
  });
});

describe("a delivery without a known time", () => {
  const arrived = (ms: number, ...emails: readonly string[]) =>
    `${arrivalLine(ms, JSON.stringify(emails.map((name) => ({ email: `${name}@example.com` }))))}\n`;
  const at = (ms: number) => formatTime(noonMs + ms);

  test.each<[string, string[], string, string[]]>([
    ["gets the time of its arrival", [arrived(noonMs - 40_000, "a", "b")], "ab", [at(-40_000), at(-39_999)]],
    ["gets it with --stamp arrival", ["--stamp", arrived(noonMs - 40_000, "a")], "a", [at(-40_000)]],
    ["of a clock that was ahead gets the time of import", [arrived(noonMs + 40_000, "a")], "a", [at(0)]],
    [
      "keeps the order of arrival",
      [arrived(noonMs - 9000, "a") + arrived(noonMs - 8000, "b", "c")],
      "abc",
      [at(-9000), at(-8000), at(-7999)],
    ],
  ])("%s", async (_, given, names, times) => {
    const stamp = given.length > 1 ? arrival : [];
    expect(await importing(given.at(-1) ?? "", ...stamp)).toMatchObject({ names, times });
  });

  test("is newer than what clients may have read since it arrived, and is the same lead when it comes again", async () => {
    const { admin } = await importing("email\nz@example.com\n");
    for (const ms of [noonMs - 40_000, noonMs - 1000]) await admin.import(arrived(ms, "a"), ...px);
    const leads = await admin.leads();
    expect(leads.map(({ email, identified_at }) => [email, identified_at])).toEqual([
      ["z@example.com", at(0)],
      ["a@example.com", at(1)],
    ]);
  });
});
