/** Times as vendors write them; what is wrong or could be two is refused and never guessed. */
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { parseTime, rfc3339 } from "../../src/contract/time.ts";
import { readTime, type TimeReading } from "../../src/import/map/values/times.ts";
import { isZone, readZone } from "../../src/import/map/values/zones.ts";
import { noonMs } from "../support/builders.ts";
import { leadsOf } from "./reading.ts";

const read = (text: string, reading: Partial<TimeReading> = {}): string | null => {
  const time = readTime(text, { zone: "UTC", order: "month first", ...reading });
  return "ms" in time ? new Date(time.ms).toISOString() : null;
};

const quarterPastNine =
  "2026-01-31T09:15:00Z,2026-01-31t09:15:00z,2026-01-31T09:15:00+00:00,2026-01-31T10:15:00+01:00,2026-01-31 09:15:00," +
  "2026-01-31 09:15,2026-01-31T09:15:00,2026-01-31 09:15:00 UTC,2026-01-31 04:15:00 EST,2026-01-31T09:15:00+0000," +
  "2026-01-31 9:15 AM,01/31/2026 9:15 AM,1/31/2026 9:15,01/31/2026 09:15:00,1769850900,1769850900000,1769850900.0";

test.each([
  ...quarterPastNine.split(",").map((text) => [text]),
  ["01/31/2026, 9:15:00 AM"],
  ["Sat, 31 Jan 2026 09:15:00 UTC +00:00"],
  ["Sat, 31 Jan 2026 09:15:00 GMT"],
  ["Sat, 31 Jan 2026 09:15:00 +0000"],
  ["31 Jan 2026 09:15:00 +0000"],
  ["2026-01-31 14:45:00 +0530"],
  ["2026-01-31 05:45:00 -03:30"],
  ["01/31/2026 10:15 GMT+01"],
  ["2026-01-31 05:15 EDT"],
  ["2026-01-31 03:15 CST"],
  ["2026-01-31 04:15 CDT"],
  ["2026-01-31 02:15 MST"],
  ["2026-01-31 03:15 MDT"],
  ["2026-01-31 01:15 PST"],
  ["2026-01-31 02:15 PDT"],
  ["1/31/26 9:15"],
  ["1/31/26 9:15 AM"],
  ["31-Jan-26 9:15 AM"],
  ["2026-01-31\u00a009:15:00"],
  ["31\u00a0Jan\u00a02026 9:15\u202fAM"],
  ["2026-1-31 9:15"],
  ["2026/1/31 9:15:00"],
  ["2026-01-31 14:15 GMT+5"],
  ["2026-01-31 14:15:00 UTC+5"],
  ["2026-01-31T14:45:00 +5:30"],
  ["46053.385416666664"],
  ["46053.38542"],
  ["46053,38542"],
  ["46053 9:15"],
  // JavaScript's Date.toString.
  ["Sat Jan 31 2026 04:15:00 GMT-0500 (Eastern Standard Time)"],
  ["Sat Jan 31 2026 09:15:00 GMT+0000 (Coordinated Universal Time)"],
  // RFC 2822 with a comment.
  ["Sat, 31 Jan 2026 01:15:00 -0800 (PST)"],
  // English month names.
  ["January 31st, 2026 9:15 AM"],
  ["January 31, 2026 at 9:15 AM"],
  ["Saturday, January 31, 2026 9:15:00 AM"],
  ["Sat Jan 31 2026 9:15am"],
  ["31 January 2026, 09:15"],
  ["31st of January 2026 9:15 a.m."],
  ["Jan. 31, 2026 9:15 A.M."],
  ["1/31/2026 9:15 a. m."],
  ["1/31/2026 9:15 A M"],
  // 12-hour clocks, with a zone after them.
  ["2026-01-31 4:15am (EST)"],
  ["1/31/2026 4:15AM ET"],
  ["2026-01-31 3:15 am CT"],
  ["2026-01-31 10:15 CET"],
  ["2026-01-31 04:15:00 America/New_York"],
  ["2026-01-31 04:15 UTC-5"],
  // Basic ISO 8601, and RFC 9557.
  ["20260131T091500Z"],
  ["20260131T041500-0500"],
  ["20260131 09:15:00"],
  ["2026-01-31T04:15:00-05:00[America/New_York]"],
  ["2026-01-31T04:15:00[America/New_York]"],
  ["2026-01-31T09:15:00Z[Europe/Berlin][u-ca=gregory]"],
  // Microseconds, and a leap second.
  ["1769850900000000"],
  ["2026-01-31T09:14:60Z"],
])("%s is 2026-01-31 09:15", (text) => {
  expect(read(text)).toBe("2026-01-31T09:15:00.000Z");
});

test.each([
  ["2026-01-31", "2026-01-31T00:00:00.000Z"],
  ["2026-1-5", "2026-01-05T00:00:00.000Z"],
  ["1/5/26", "2026-01-05T00:00:00.000Z"],
  ["46053", "2026-01-31T00:00:00.000Z"],
  ["46053.5", "2026-01-31T12:00:00.000Z"],
  ["46053.500001446759", "2026-01-31T12:00:00.125Z"],
  ["01/31/2026", "2026-01-31T00:00:00.000Z"],
  ["2024-02-29", "2024-02-29T00:00:00.000Z"],
  ["01/31/2026 12:00 AM", "2026-01-31T00:00:00.000Z"],
  ["01/31/2026 12:30 PM", "2026-01-31T12:30:00.000Z"],
  ["January 5th, 2026", "2026-01-05T00:00:00.000Z"],
  ["Monday, 5 Jan 2026", "2026-01-05T00:00:00.000Z"],
  ["20260105", "2026-01-05T00:00:00.000Z"],
  ["Jan 5 2026 3pm", "2026-01-05T15:00:00.000Z"],
  ["2016-12-31T23:59:60Z", "2017-01-01T00:00:00.000Z"],
  ["2026-01-31T09:15:00.123999Z", "2026-01-31T09:15:00.123Z"],
  ["2026-01-31 09:15:00,5", "2026-01-31T09:15:00.500Z"],
  ["1769850900.123456", "2026-01-31T09:15:00.123Z"],
  ["1769850900123", "2026-01-31T09:15:00.123Z"],
  ["1969-12-31T23:59:59.999Z", "1969-12-31T23:59:59.999Z"],
  ["0001-01-01T00:00:00Z", "0001-01-01T00:00:00.000Z"],
  ["9999-12-31T23:59:59.999Z", "9999-12-31T23:59:59.999Z"],
])("%s is %s: decimals are truncated", (text, moment) => {
  expect(read(text)).toBe(moment);
});

test.each(
  (
    "2026-02-29,2026-13-01,2026-00-10,2026-01-32,31/01/2026,13/13/2026,2026-01-31T24:00:00Z,2026-01-31T09:60:00Z," +
    "01/31/2026 13:15 PM,01/31/2026 0:15 AM,2026-01-31T09:15:00+25:00,0000-12-31," +
    "0001-01-01T00:00:00+01:00,9999-12-31T23:59:59-01:00,31/1/26,1-31-26,26/01/31,yesterday,5 minutes ago,0,17,-1769850900," +
    "1.7698E9,176985090,17,5,1769,176985,2026,2026-01,09:15,2026-01-31 09:15:00 XYZ,2026-01-31T09:15:00Z."
  ).split(","),
)("%s is refused", (text) => {
  expect(read(text)).toBeNull();
});

test.each(["Mon, 31 Jan 2026 09:15:00 UTC", "Sat, 31 Foo 2026 09:15:00 UTC", "Sat, 32 Jan 2026 09:15:00 UTC"])(
  "%s is refused: the parts of a date must agree",
  (text) => {
    expect(read(text)).toBeNull();
  },
);

describe("with --day-first", () => {
  test.each([
    ["01/02/2026", "2026-02-01T00:00:00.000Z"],
    ["31/01/2026 9:15 PM", "2026-01-31T21:15:00.000Z"],
    ["31.01.2026 09:15", "2026-01-31T09:15:00.000Z"],
    ["2026-01-02", "2026-01-02T00:00:00.000Z"],
    ["31.1.26", "2026-01-31T00:00:00.000Z"],
    ["1/2/26", "2026-02-01T00:00:00.000Z"],
  ])("%s is %s", (text, moment) => {
    expect(read(text, { order: "day first" })).toBe(moment);
  });

  test("01/31/2026 is refused", () => {
    expect(read("01/31/2026", { order: "day first" })).toBeNull();
  });
});

describe("with --timezone", () => {
  const zone = "America/New_York";
  test.each([
    ["2026-01-31 09:15:00", "2026-01-31T14:15:00.000Z"],
    ["2026-07-31 09:15:00", "2026-07-31T13:15:00.000Z"],
    ["2026-01-31", "2026-01-31T05:00:00.000Z"],
    ["01/31/2026 9:15 AM", "2026-01-31T14:15:00.000Z"],
    ["2026-01-31T09:15:00Z", "2026-01-31T09:15:00.000Z"],
    ["2026-01-31 09:15:00 +01:00", "2026-01-31T08:15:00.000Z"],
    ["1769850900", "2026-01-31T09:15:00.000Z"],
  ])("%s is %s: an offset in the text takes precedence", (text, moment) => {
    expect(read(text, { zone })).toBe(moment);
  });

  test.each([
    ["2026-11-01 01:30:00", "2026-11-01T05:30:00.000Z", "repeated hour"],
    ["2026-03-08 02:30:00", "2026-03-08T07:30:00.000Z", "skipped hour"],
  ])("%s is %s: the earlier of two, or moved forward by the gap", (text, moment, warning) => {
    const time = readTime(text, { zone, order: null });
    expect(time).toEqual({ ms: Date.parse(moment), warning } as typeof time);
  });

  test.each(["UTC", "Europe/Berlin", "America/Argentina/Buenos_Aires"])("%s is a zone", (name) => {
    expect(isZone(name)).toBe(true);
  });

  test.each(["", "Mars/Olympus", "+02:00", "New York", "9"])("%j is not a zone", (name) => {
    expect(isZone(name)).toBe(false);
  });
});

describe("a zone in a column of its own", () => {
  test.each([
    ["America/New_York", "America/New_York"],
    ["EST", "-05:00"],
    ["CET", "+01:00"],
    ["GMT+5", "+05:00"],
    ["UTC-05:30", "-05:30"],
    ["UTC", "UTC"],
    ["ET", "America/New_York"],
    ["(UTC-08:00) Pacific Time (US & Canada)", "America/Los_Angeles"],
    ["Central Standard Time", "America/Chicago"],
  ])("%s is %s", (text, zone) => {
    expect(readZone(text)).toBe(zone);
  });

  test.each(["Mars", "5", "+99", "-120", "+530", ""])("%j is not a zone", (text) => {
    expect(readZone(text)).toBeNull();
  });

  const at = async (columns: string, cells: string) => {
    const [reading] = await leadsOf(`email,${columns}\nd@example.com,${cells}\n`);
    if (reading === undefined || "fault" in reading) return reading?.fault;
    if ("undecided" in reading) return "undecided";
    return reading.lead.identifiedMs === null ? null : new Date(reading.lead.identifiedMs).toISOString();
  };

  test.each([
    ["Date,Time,Time Zone", "2026-01-31,09:15,America/New_York", "2026-01-31T14:15:00.000Z"],
    ["Timestamp,Timezone", "2026-01-31 09:15:00,GMT+5", "2026-01-31T04:15:00.000Z"],
    ["Timestamp,Timezone", "2026-01-31T09:15:00Z,America/New_York", "2026-01-31T09:15:00.000Z"],
    ["Timestamp,Timezone", "2026-01-31 09:15:00,", "2026-01-31T09:15:00.000Z"],
    ["Timestamp (UTC),Timezone", "2026-01-31 09:15:00,America/New_York", "2026-01-31T09:15:00.000Z"],
    ["Timestamp (EST)", "2026-01-31 09:15:00", "2026-01-31T14:15:00.000Z"],
    ["Visited At (PT)", "2026-01-31 09:15:00", "2026-01-31T17:15:00.000Z"],
    ["Time (UTC-5)", "2026-01-31 09:15:00", "2026-01-31T14:15:00.000Z"],
    ["Last Seen (UTC)", "2026-01-31 09:15:00", "2026-01-31T09:15:00.000Z"],
    ["Date (America/New_York)", "2026-01-31 09:15:00", "2026-01-31T14:15:00.000Z"],
    ["created_at_utc", "2026-01-31 09:15:00", "2026-01-31T09:15:00.000Z"],
    ["Visit Date,Visit Hour (EST)", "2026-01-31,9:15 AM", "2026-01-31T14:15:00.000Z"],
    ["Hit Date,Hit Hour", "2026-01-31,9", "2026-01-31T09:00:00.000Z"],
    ["Date,Hour", "20260131,9", "2026-01-31T09:00:00.000Z"],
    ["Date,Time", "20260131,9:15 a. m.", "2026-01-31T09:15:00.000Z"],
    ["Hour of Day,Day", "00,2026-01-31", "2026-01-31T00:00:00.000Z"],
    ["Day of Visit,Time of Day", "2026-01-31,09:15", "2026-01-31T09:15:00.000Z"],
    ["Visited Date,Local Time", "2026-01-31,9:15 AM", "2026-01-31T09:15:00.000Z"],
    ["Session Start Date,Session Start Time", "2026-01-31,09:15", "2026-01-31T09:15:00.000Z"],
    ["First Seen Date,First Seen Time", "2026-01-31,09:15", "2026-01-31T09:15:00.000Z"],
    ["Last Activity Date,Last Activity Time", "2026-01-31,09:15", "2026-01-31T09:15:00.000Z"],
    ["Landing Date,Landing Time", "2026-01-31,09:15", "2026-01-31T09:15:00.000Z"],
    ["Time,Date", "9:15 AM,1/25/26", "2026-01-25T09:15:00.000Z"],
    ["Date,Time", "46053,0.385416667", "2026-01-31T09:15:00.000Z"],
    ["Visit Date,Visit Time", "Jan 31 2026,9:15", "2026-01-31T09:15:00.000Z"],
    ["Date,Time", "1769850900,10:00", "2026-01-31T09:15:00.000Z"],
    ["Date,Time", "2026-01-31 00:00:00.000,09:15:30", "2026-01-31T09:15:30.000Z"],
    ["Time,Date", "9:15 PM,1/31/2026 12:00:00 AM", "2026-01-31T21:15:00.000Z"],
    ["Date,Time,Time Zone", "2026-01-31T00:00:00Z,09:15,America/New_York", "2026-01-31T09:15:00.000Z"],
    ["Date,Time", "2026-01-31 10:00:00,09:15", "2026-01-31T10:00:00.000Z"],
    ["Timestamp,Local Date,Local Time", "2026-01-31T00:00:00Z,2026-01-30,19:00", "2026-01-31T00:00:00.000Z"],
    ["Visited At,Local Time", "2026-01-31T00:00:00Z,19:00", "2026-01-31T00:00:00.000Z"],
    ["Date,Local Date,Local Time", "2026-01-31,2026-01-30,19:00", "2026-01-31T00:00:00.000Z"],
  ])("%s with %s is %s", async (columns, cells, moment) => {
    expect(await at(columns, cells)).toBe(moment);
  });

  test("joining a column of many blanks takes linear time", async () => {
    const begun = process.cpuUsage();
    expect(await at("Date,Time", `1:1${" ".repeat(50_000)}x,09:15`)).toContain("is unknown");
    expect(process.cpuUsage(begun).user).toBeLessThan(1_000_000);
  });

  test("an unknown zone is reported only if it is needed", async () => {
    expect(await at("Timestamp,Timezone", "2026-01-31 09:15,Mars")).toContain("time zone");
    expect(await at("Timestamp,Timezone", "2026-01-31T09:15:00Z,Mars")).toBe("2026-01-31T09:15:00.000Z");
  });
});

test.each([
  ["Date,Time", "13/45/26,09:15", "13/45/26"],
  ["Time,Date", "09:15,13/45/26", "13/45/26"],
  ["Date,Time", "1/25/26,25:15", "1/25/26 25:15"],
])(
  "of a date and a time of day in two columns (%s, %s) the one that is wrong is named",
  async (columns, cells, wrong) => {
    const [reading] = await leadsOf(`email,${columns}\nd@example.com,${cells}\n`);
    expect(reading).toEqual({ fault: expect.stringMatching(new RegExp(`: "${wrong}"$`)) });
  },
);

test("RFC 3339 times are read to the millisecond", () => {
  const date = fc.date({ min: new Date("0001-01-01"), max: new Date("9999-12-31T23:59:59.999Z"), noInvalidDate: true });
  fc.assert(fc.property(date, (moment) => expect(read(moment.toISOString())).toBe(moment.toISOString())));
});

test("a spreadsheet date keeps its milliseconds", () => {
  fc.assert(
    fc.property(fc.integer({ min: 40_000, max: 60_000 }), fc.nat({ max: 86_399_999 }), (day, ms) => {
      const midnightMs = Date.UTC(1899, 11, 30) + day * 86_400_000;
      // A spreadsheet shows 15 digits, and a program writes up to 17.
      for (const digits of [15, 16, 17]) {
        const serial = (day + ms / 86_400_000).toPrecision(digits);
        expect(read(serial)).toBe(new Date(midnightMs + ms).toISOString());
      }
    }),
    { numRuns: 3000 },
  );
  expect(read("45000.5")).toBe("2023-03-15T12:00:00.000Z");
  expect(read("45000.123456")).toBe("2023-03-15T02:57:46.598Z");
});

test("whatever has the shape of RFC 3339 means the same in a file as in a query", () => {
  const reading = { zone: "UTC", order: null };
  fc.assert(
    fc.property(fc.stringMatching(rfc3339), (text) => {
      const time = readTime(text, reading);
      expect("ms" in time ? time.ms : null).toBe(parseTime(text, "down"));
    }),
    { numRuns: 3000 },
  );
});

test("a time five minutes ahead becomes the current time, and one a millisecond later is rejected", async () => {
  const ahead = (ms: number) => new Date(noonMs + 300_000 + ms).toISOString();
  const readings = await leadsOf(`email,time\na@example.com,${ahead(0)}\nb@example.com,${ahead(1)}\n`);
  expect(readings).toMatchObject([
    { lead: { identifiedMs: noonMs, clamped: true } },
    { fault: expect.stringContaining("in the future") },
  ]);
});
