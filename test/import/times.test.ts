/** Times as vendors write them; what is wrong or could be two is refused and never guessed. */
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { parseTime, rfc3339 } from "../../src/contract/time.ts";
import { wholeIdentity } from "../../src/import/map/identity.ts";
import { readTime, type TimeReading } from "../../src/import/map/values/times.ts";
import { isZone, readZone } from "../../src/import/map/values/zones.ts";
import { leadsOf, shown } from "./reading.ts";

const read = (text: string, reading: Partial<TimeReading> = {}): string | null => {
  const time = readTime(text, { zone: "UTC", order: "month first", ...reading });
  return "ms" in time ? new Date(time.ms).toISOString() : null;
};

/** The grammar of times: a date, a gap, a clock, and perhaps a zone. */
const dates =
  "YYYY-MM-DD|YYYY-M-D|YYYY/M/D|D Mon YYYY|D-Mon-YY|Wdy, D Mon YYYY|Wdy Mon D YYYY|Mon. D, YYYY|Month Dth, YYYY|" +
  "Month D, YYYY|Weekday, Month D, YYYY|Weekday, D Mon YYYY|D Month YYYY|Dth of Month YYYY|D\u00a0Mon\u00a0YYYY";
const numericDates = {
  "month first": "MM/DD/YYYY|M/D/YYYY|M/D/YY",
  "day first": "DD/MM/YYYY|D.M.YY|DD.MM.YYYY|D/M/YY",
};
const gaps = " |T|, | at |\u00a0";
const clocks =
  "hh:mm:ss|hh:mm:ss.000|hh:mm:ss,0|H:mm:ss AM|H:mm:ssam|H:mm:ss\u202fAM|H:mm:ss a.m.|H:mm:ss A.M.|H:mm:ss a. m.|H:mm:ss A M";
const zones: readonly (readonly [zone: string, texts: string])[] = [
  ["UTC", "Z|UTC|GMT|+0000|UTC +00:00|+0000 UTC"],
  ["-04:00", "EDT|-0400"],
  ["-05:00", "EST|CDT|-05:00|UTC-5|GMT-0500"],
  ["-06:00", "CST|MDT"],
  ["-07:00", "MST|PDT"],
  ["-08:00", "PST"],
  ["+01:00", "CET|GMT+01|GMT+1"],
  ["+02:00", "CEST"],
  ["+05:30", "+0530|+5:30|UTC+05:30"],
  ["-03:30", "-03:30|GMT-3:30"],
  ["America/New_York", "America/New_York|ET|Eastern Standard Time"],
  ["America/Chicago", "CT|Central Standard Time"],
  ["America/Denver", "MT"],
  ["America/Los_Angeles", "PT"],
];

/** Writes a time in a form of the grammar. */
function write(form: string, at: Temporal.ZonedDateTime): string {
  const inEnglish = (options: Intl.DateTimeFormatOptions) => at.toPlainDate().toLocaleString("en-US", options);
  const ordinals: Record<string, string> = { one: "st", two: "nd", few: "rd", other: "th" };
  const parts: Record<string, string | number> = {
    ...{ YYYY: at.year, YY: String(at.year).slice(2), MM: String(at.month).padStart(2, "0"), M: at.month },
    ...{ Month: inEnglish({ month: "long" }), Mon: inEnglish({ month: "short" }) },
    ...{ Weekday: inEnglish({ weekday: "long" }), Wdy: inEnglish({ weekday: "short" }) },
    ...{ DD: String(at.day).padStart(2, "0"), D: at.day },
    Dth: `${at.day}${ordinals[new Intl.PluralRules("en", { type: "ordinal" }).select(at.day)]}`,
    ...{ hh: String(at.hour).padStart(2, "0"), H: at.hour % 12 || 12 },
    ...{ mm: String(at.minute).padStart(2, "0"), ss: String(at.second).padStart(2, "0") },
    ...{ A: at.hour < 12 ? "A" : "P", a: at.hour < 12 ? "a" : "p" },
  };
  const names = /YYYY|YY|Month|Mon|MM|M(?=[-/]|\.Y)|Weekday|Wdy|DD|Dth|D|hh|H|mm|ss|A(?=[M. ])|a(?=[m.])/g;
  return form.replace(names, (part) => String(parts[part]));
}

test.each(["month first", "day first"] as const)(
  "any date, read %s, with any clock and zone is read to the second; its zone precedes that of the import",
  (order) => {
    const oneOf = (texts: string) => fc.constantFrom(...texts.split("|"));
    const zone = fc
      .constantFrom(...zones)
      .chain(([zone, texts]) => fc.tuple(fc.constant(zone), fc.option(oneOf(texts))));
    const form = fc
      .tuple(oneOf(`${dates}|${numericDates[order]}`), oneOf(gaps), oneOf(clocks))
      .map((all) => all.join(""));
    const second = fc.integer({ min: Date.UTC(2001) / 1000, max: Date.UTC(2050) / 1000 });
    fc.assert(
      fc.property(form, zone, second, (form, [zone, named], second) => {
        const at = Temporal.Instant.fromEpochMilliseconds(second * 1000).toZonedDateTimeISO(zone);
        // Of an hour that occurs twice, the first is read.
        fc.pre(at.toPlainDateTime().toZonedDateTime(zone).epochMilliseconds === second * 1000);
        const text = named === null ? write(form, at) : `${write(form, at)} ${named}`;
        const reading = { order, zone: named === null ? zone : "Asia/Tokyo" };
        expect([text, read(text, reading)]).toEqual([text, new Date(second * 1000).toISOString()]);
      }),
      { numRuns: 600 },
    );
  },
);

const quarterPastNine =
  "2026-01-31 09:15|2026-01-31 9:15|1/31/2026 9:15|1769850900|1769850900000|1769850900.0|1769850900000000|" +
  "46053.385416666664|46053.38542|46053,38542|46053 9:15|2026-01-31t09:15:00z|20260131T091500Z|20260131T041500-0500|" +
  "20260131 09:15:00|2026-01-31T04:15:00-05:00[America/New_York]|2026-01-31T04:15:00[America/New_York]|" +
  "2026-01-31T09:15:00:00.00+00.00|2026-01-31T09:15:00Z[Europe/Berlin][u-ca=gregory]|2026-01-31T09:14:60Z|Sat, 31 Jan 2026 01:15:00 -0800 (PST)|" +
  "Sat Jan 31 2026 04:15:00 GMT-0500 (Eastern Standard Time)|2026-01-31 4:15am (EST)|1/31/2026 4:15AM ET";

test.each(quarterPastNine.split("|"))("%s is 2026-01-31 09:15", (text) => {
  expect(read(text)).toBe("2026-01-31T09:15:00.000Z");
});

test.each([
  ["2026-01-31", "2026-01-31T00:00:00.000Z"],
  ["1/5/26", "2026-01-05T00:00:00.000Z"],
  ["46053", "2026-01-31T00:00:00.000Z"],
  ["46053.5", "2026-01-31T12:00:00.000Z"],
  ["46053.500001446759", "2026-01-31T12:00:00.125Z"],
  ["2024-02-29", "2024-02-29T00:00:00.000Z"],
  ["20260105", "2026-01-05T00:00:00.000Z"],
  ["Jan 5 2026 3pm", "2026-01-05T15:00:00.000Z"],
  ["2016-12-31T23:59:60Z", "2017-01-01T00:00:00.000Z"],
  ["2026-01-31 09:15:00,5", "2026-01-31T09:15:00.500Z"],
  ["2026-01-31 09:15:00.123999", "2026-01-31T09:15:00.123Z"],
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

test("01/31/2026 is refused with --day-first", () => {
  expect(read("01/31/2026", { order: "day first" })).toBeNull();
});

test.each([
  ["2026-11-01 01:30:00", "2026-11-01T05:30:00.000Z", "repeated hour"],
  ["2026-03-08 02:30:00", "2026-03-08T07:30:00.000Z", "skipped hour"],
])("%s in New York is %s: the earlier of two, or moved forward by the gap", (text, moment, warning) => {
  const time = readTime(text, { zone: "America/New_York", order: null });
  expect(time).toEqual({ ms: Date.parse(moment), warning } as typeof time);
});

test.each(["UTC", "Europe/Berlin", "America/Argentina/Buenos_Aires"])("--timezone takes %s", (name) => {
  expect(isZone(name)).toBe(true);
});

test.each(["", "Mars/Olympus", "+02:00", "New York", "9"])("--timezone refuses %j", (name) => {
  expect(isZone(name)).toBe(false);
});

describe("a zone in a column of its own", () => {
  test.each([...zones, ["America/Los_Angeles", "(UTC-08:00) Pacific Time (US & Canada)"]])(
    "%s is %s",
    (zone, texts) => {
      for (const text of texts.split("|")) expect([text, readZone(text)]).toEqual([text, zone]);
    },
  );

  test.each(["Mars", "5", "+99", "-120", "+530", ""])("%j is not a zone", (text) => {
    expect(readZone(text)).toBeNull();
  });

  const at = async (columns: string, cells: string) => {
    const { at, fault } = shown((await leadsOf(`email,${columns}\nd@example.com,${cells}\n`))[0]);
    return at ?? fault;
  };

  test.each([
    ["Date,Time,Time Zone", "2026-01-31,09:15,America/New_York", "2026-01-31T14:15:00.000Z"],
    ["Timestamp,Timezone", "2026-01-31 09:15:00,GMT+5", "2026-01-31T04:15:00.000Z"],
    ["Timestamp,Timezone", "2026-01-31T09:15:00Z,America/New_York", "2026-01-31T09:15:00.000Z"],
    ["Timestamp,Timezone", "2026-01-31 09:15:00,", "2026-01-31T09:15:00.000Z"],
    ["Timestamp (UTC),Timezone", "2026-01-31 09:15:00,America/New_York", "2026-01-31T09:15:00.000Z"],
    ["Timestamp (EST)", "2026-01-31 09:15:00", "2026-01-31T14:15:00.000Z"],
    ["Visited At (PT)", "2026-01-31 09:15:00", "2026-01-31T17:15:00.000Z"],
    ["Last Seen (UTC)", "2026-01-31 09:15:00", "2026-01-31T09:15:00.000Z"],
    ["Date (America/New_York)", "2026-01-31 09:15:00", "2026-01-31T14:15:00.000Z"],
    ["visited_at_utc", "2026-01-31 09:15:00", "2026-01-31T09:15:00.000Z"],
    ["Visit Date,Visit Hour (EST)", "2026-01-31,9:15 AM", "2026-01-31T14:15:00.000Z"],
    ["Date,Hour", "20260131,9", "2026-01-31T09:00:00.000Z"],
    ["Date,Heure", "31/01/2026,15h04", "2026-01-31T15:04:00.000Z"],
    ["Date,Heure", "31/01/2026,15 h", "2026-01-31T15:00:00.000Z"],
    ["Date,Time", "20260131,9:15 a. m.", "2026-01-31T09:15:00.000Z"],
    ["Hour of Day,Day", "00,2026-01-31", "2026-01-31T00:00:00.000Z"],
    ["Day of Visit,Time of Day", "2026-01-31,09:15", "2026-01-31T09:15:00.000Z"],
    ["Time,Date", "9:15 AM,1/25/26", "2026-01-25T09:15:00.000Z"],
    ["Date,Time", "46053,0.385416667", "2026-01-31T09:15:00.000Z"],
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

  test("a time of day in an unknown form is a warning, and two visits of one day stay two", async () => {
    for (const column of ["Heure", "Uhrzeit", "Hora"]) {
      const readings = await leadsOf(
        `email,Date,${column}\nd@x.com,2026-01-31,15 Uhr 04\nd@x.com,2026-01-31,16 Uhr 04\n`,
        { identity: wholeIdentity },
      );
      const leads = readings.map((one) => ("lead" in one ? one : null));
      expect(leads.map((one) => one?.warnings)).toEqual([["time of day"], ["time of day"]]);
      expect(new Set(leads.map((one) => one?.lead.id)).size).toBe(2);
    }
    const [other] = await leadsOf("email,Date,First Seen\nd@x.com,2026-01-31,2 days ago\n");
    expect(other).toMatchObject({ warnings: [] });
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
    { numRuns: 1000 },
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
    { numRuns: 1000 },
  );
});
