/** Times as vendors write them. A date that is not in the calendar is refused, and one that could be two is never guessed. */
import { calendarMs, clockMs, dayMs, decimalsToMs, withinYears } from "../../../contract/calendar.ts";
import { readZone, timestampInZone, type ZonedMs } from "./zones.ts";

/** The order of a numeric date: 01/02/2026 is the first of February or the second of January. */
export type DateOrder = "day first" | "month first";

/** The zone and the order of dates for texts that do not state them. */
export interface TimeReading {
  /** The IANA name of the zone of times without an offset; null if the row names one that is not known. */
  readonly zone: string | null;
  /** The order of numeric dates; null while it is not decided. */
  readonly order: DateOrder | null;
}

/** A timestamp, why a text is none, or that its date could be two. */
export type ReadTime = ZonedMs | { readonly fault: string } | { readonly isUndecided: true };

const name = "[A-Za-z]{3,9}";
const weekdayFirst = `^(?:(?<weekday>${name}),?\\s+)?`;
const ordinal = "(?<day>\\d{1,2})(?:st|nd|rd|th)?";
/** Dates that can be read in one way only. */
const dateForms = [
  /^(?<year>\d{4})([/-])(?<month>\d{1,2})\2(?<day>\d{1,2})/,
  /^(?<year>(?:19|20)\d{2})(?<month>\d{2})(?<day>\d{2})(?=$|T|\s)/i,
  new RegExp(
    `${weekdayFirst}${ordinal}(?:\\s+of)?[\\s-]+(?<month>${name})\\.?,?[\\s-]+(?<year>\\d{4}|\\d{2})(?!\\d)`,
    "i",
  ),
  new RegExp(`${weekdayFirst}(?<month>${name})\\.?\\s+${ordinal},?\\s+(?<year>\\d{4})(?!\\d)`, "i"),
  /^(?<serial>[2-7]\d{4})(?=\s|$)/,
];
const numericForm = /^(\d{1,2})([/.-])(\d{1,2})\2(\d{4}|\d{2})(?!\d)/;
const clockForm =
  /^(?:T\s*|,?\s+(?:at\s+)?)(\d{1,2})(?::(\d{2}))?(?::(\d{2})(?:[.,](\d+))?)?(?:\s*([ap])\.?\s?m\b\.?)?(?!\d)/i;
const basicClockForm = /^T(\d{2})(\d{2})(?:(\d{2})(?:[.,](\d+))?)?(?!\d|:)/i;
const firstSerialMs = Date.UTC(1899, 11, 30);
const months = "january february march april may june july august september october november december".split(" ");
const weekdays = "sunday monday tuesday wednesday thursday friday saturday".split(" ");

/** RB2B writes frames after the seconds, and a dot in the offset: `2026-01-31T09:15:00:00.00+00.00`. */
const withFrames = /^(\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}):\d{2}(?:\.\d{1,3})?([+-]\d{2})\.(\d{2})$/;

const noForm = "the format of its time is unknown";
const noCalendar = "its time is not a valid date and time";

/** Reads a time in any of the forms that vendors use; what is finer than a millisecond is cut. */
export function readTime(written: string, reading: TimeReading): ReadTime {
  // Pages and spreadsheets put a non-breaking space between a date and its time.
  const text = written.replaceAll(/\s/g, " ").trim().replace(withFrames, "$1$2:$3");
  const number = readNumber(text, reading);
  if (number !== null) return number;
  const date = readDate(text, reading.order);
  if (date === null) return { fault: noForm };
  if (date.isUndecided === true) return { isUndecided: true };
  return readClocked(date.day, text.slice(date.length), reading, orderHint(text, reading));
}

/** Reads what follows a date: a clock with its zone, or nothing. */
function readClocked(day: number | null, rest: string, reading: TimeReading, hint: string): ReadTime {
  if (rest === "") return day === null ? { fault: noCalendar + hint } : inZone(day, null, undefined, reading);
  const clock = basicClockForm.exec(rest) ?? clockForm.exec(rest);
  if (clock === null) return { fault: noForm };
  const [all, hour, minute, second = 0, decimals, half] = clock;
  const ofZone = zoneIn(rest.slice(all.length).trim());
  // A number after a date is an hour only if something says so.
  if (ofZone === null || (minute === undefined && half === undefined)) return { fault: noForm };
  const clockMs = readClock(Number(hour), Number(minute ?? 0), Number(second), half);
  if (day === null || clockMs === null) return { fault: noCalendar + hint };
  return inZone(day + clockMs, ofZone.zone, decimals, reading);
}

/** Returns whether a text is a time in some order. A plain number is none: it may be an amount. */
export function isTime(text: string): boolean {
  if (/^[\d.,+-]*$/.test(text) && readNumeric(text) === null && !/^\d{4}-\d/.test(text)) return false;
  return (["month first", "day first"] as const).some((order) => "ms" in readTime(text, { zone: "UTC", order }));
}

function inZone(wallMs: number, ownZone: string | null, decimals: string | undefined, reading: TimeReading): ReadTime {
  const zone = ownZone ?? reading.zone;
  if (zone === null) return { fault: "its time has no offset, and its time zone is unknown" };
  const zoned = timestampInZone(wallMs, zone);
  if (!withinYears(zoned.ms)) return { fault: "its time is outside the years 0001 to 9999" };
  return { ...zoned, ms: zoned.ms + decimalsToMs(decimals, "down") };
}

/** Reads Unix seconds of 10 digits, milliseconds of 13, microseconds of 16; or the days of a spreadsheet with decimals. */
function readNumber(text: string, reading: TimeReading): ReadTime | null {
  const unix = /^(\d{10})(?:\.(\d+))?$|^(\d{13})(?:\.\d+)?$|^(\d{16})(?:\.0+)?$/.exec(text);
  if (unix !== null) {
    const [, seconds, decimals, ms, micros] = unix;
    if (seconds !== undefined) return { ms: Number(seconds) * 1000 + decimalsToMs(decimals, "down") };
    return { ms: ms === undefined ? Math.floor(Number(micros) / 1000) : Number(ms) };
  }
  const serial = /^([2-7]\d{4})(?:[.,](\d+))?$/.exec(text);
  if (serial === null) return null;
  const sinceMidnightMs = serial[2] === undefined ? 0 : clockOfDecimals(serial[2]);
  return inZone(firstSerialMs + Number(serial[1]) * dayMs + sinceMidnightMs, null, undefined, reading);
}

/**
 * Parses the date at the start of a text. Returns the day in Unix milliseconds (null for a day that does not exist) and
 * the length of the date; isUndecided if day and month are ambiguous; null if there is no date.
 */
function readDate(text: string, order: DateOrder | null) {
  const numeric = readNumeric(text);
  if (numeric !== null) {
    if (order !== null) return { day: numeric[order], length: numeric.length };
    const [one, other] = [numeric["day first"], numeric["month first"]];
    if (one !== null && other !== null && one !== other) return { isUndecided: true } as const;
    return { day: one ?? other, length: numeric.length };
  }
  for (const form of dateForms) {
    const match = form.exec(text);
    if (match !== null) return { day: dayOf(match.groups ?? {}), length: match[0].length };
  }
  return null;
}

/** Returns the day of a date by its parts; null if they do not agree. */
function dayOf({
  serial,
  year,
  month = "",
  day,
  weekday,
}: Readonly<Record<string, string | undefined>>): number | null {
  if (serial !== undefined) return firstSerialMs + Number(serial) * dayMs;
  const monthNumber = /\d/.test(month) ? Number(month) : indexIn(months, month) + 1;
  const ms = calendarMs(fullYear(year), monthNumber, Number(day));
  const isNamed = weekday === undefined || ms === null || new Date(ms).getUTCDay() === indexIn(weekdays, weekday);
  return isNamed ? ms : null;
}

/** Returns the index of a name that may be cut after its third letter; -1 if it is not in the list. */
function indexIn(names: readonly string[], text: string): number {
  return names.findIndex((known) => known.startsWith(text.toLowerCase()));
}

/** The day of a numeric date in either order, and how much of the text it takes; null for any other text. */
type NumericDate = Readonly<Record<DateOrder, number | null>> & { readonly length: number };

/**
 * Parses a numeric date, such as 01/02/2026 or 31.01.26, in both orders. An order is null if no such day exists.
 * Returns null for any other text.
 */
export function readNumeric(text: string): NumericDate | null {
  const match = numericForm.exec(text);
  if (match === null) return null;
  const [all, one, separator, two, year] = match;
  // With dashes, a year of two digits could be first as well.
  if (separator === "-" && year?.length === 2) return null;
  const full = fullYear(year);
  return {
    "day first": calendarMs(full, Number(two), Number(one)),
    "month first": calendarMs(full, Number(one), Number(two)),
    length: all.length,
  };
}

/** Returns a hint at the other order, if the text is a date only in that. */
function orderHint(text: string, { order }: TimeReading): string {
  const other = order === "day first" ? "month first" : "day first";
  const isOther = order !== null && (readNumeric(text)?.[other] ?? null) !== null;
  return isOther ? `, because dates are read ${order}` : "";
}

/** Returns the year. Of two digits it is in this century: nobody was identified on a website in the last one. */
function fullYear(digits: string | undefined): number {
  return Number(digits) + (digits?.length === 2 ? 2000 : 0);
}

/** Returns a fraction of a day in milliseconds: the second that it was rounded from, if it can be one. */
export function clockOfDecimals(decimals: string): number {
  const exact = Number(`0.${decimals}`) * dayMs;
  const seconds = Math.round(exact / 1000) * 1000;
  const precision = Math.max(dayMs / 2 / 10 ** decimals.length, 0.5);
  return Math.abs(exact - seconds) <= precision ? seconds : Math.round(exact);
}

/** Returns the milliseconds since midnight; a leap second is the next second, and null is for what no clock shows. */
function readClock(hour: number, minute: number, second: number, half: string | undefined): number | null {
  if (half !== undefined && (hour < 1 || hour > 12)) return null;
  const hours = half === undefined ? hour : (hour % 12) + (half.toLowerCase() === "p" ? 12 : 0);
  const ms = clockMs(hours, minute, second === 60 ? 59 : second);
  return ms === null || second !== 60 ? ms : ms + 1000;
}

/** Returns the zone in what follows a clock, null for none; null as a whole for any other text. */
function zoneIn(text: string): { readonly zone: string | null } | null {
  if (text === "") return { zone: null };
  // `[America/New_York]` and `(Eastern Standard Time)` explain an offset, or replace one. An annotation has a `=`.
  const [, offset = "", inBrackets] = /^([^([]*?)\s*[([]\s*!?([^()[\]=]*)[)\]](?:\[[^[\]]*\])*$/.exec(text) ?? [
    "",
    text,
  ];
  const zone = readZone(offset === "" ? (inBrackets ?? "") : offset);
  return zone === null ? null : { zone };
}
