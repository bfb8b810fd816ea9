/** Times as vendors write them. A date that no calendar has, or that could be two, is refused and never guessed. */
import { calendarMs, clockMs, dayMs, decimalsToMs, withinYears } from "../../../contract/calendar.ts";
import { momentInZone, offsetForm, offsetMs } from "./zones.ts";

export interface TimeReading {
  /** The IANA name of the zone for times without an offset; null where it should be known and is not. */
  readonly zone: string | null;
  /** Whether 01/02/2026 is the first of February. */
  readonly dayFirst: boolean;
  /** Hears of each time that has to be told from several forms. */
  readonly onTime?: (text: string) => void;
}

/** A moment, with its text where that is the one which a lead has for it; or why a text is none. */
export type ReadTime = { readonly ms: number; readonly written?: string } | { readonly fault: string };

type Civil = { day: number | null; clock: number | null; decimals: string | undefined; offset: string | undefined };

const clock = String.raw`(\d{1,2}):(\d{2})(?::(\d{2})(?:[.,](\d+))?)?(?:\s*([AaPp])\.?[Mm]\.?)?`;
const forms = {
  iso: new RegExp(`^(\\d{4})([/-])(\\d{1,2})\\2(\\d{1,2})(?:[T ]\\s*${clock}${offsetForm})?$`, "i"),
  slashes: new RegExp(`^(\\d{1,2})([/.-])(\\d{1,2})\\2(\\d{4}|\\d{2})(?:,?[T ]\\s*${clock}${offsetForm})?$`, "i"),
  mail: new RegExp(
    `^(?:([A-Z]{3})[a-z]*,\\s*)?(\\d{1,2})[ -]([A-Z]{3})[a-z]*[ -](\\d{4}|\\d{2})(?:,?\\s+${clock}${offsetForm})?$`,
    "i",
  ),
  words: new RegExp(`^([A-Z]{3})[a-z]* (\\d{1,2}),? (\\d{4})(?:,?\\s+(?:at )?${clock}${offsetForm})?$`, "i"),
  serial: new RegExp(`^([2-7]\\d{4})(?:[.,](\\d+)|\\s+${clock}${offsetForm})?$`, "i"),
};
const firstSerialMs = Date.UTC(1899, 11, 30);
const months = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
const weekdays = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"];

/** Reads a time in any of the forms that vendors use; what is finer than a millisecond is cut. */
export function readTime(written: string, reading: TimeReading): ReadTime {
  // Pages and spreadsheets put a space of another kind between a date and its time, lest a line ends there.
  const text = written.replaceAll(/\s/g, " ");
  const epoch = readEpoch(text);
  if (epoch !== null) return { ms: epoch };
  const civil =
    readIso(text) ?? readSlashes(text, reading.dayFirst) ?? readMail(text) ?? readWords(text) ?? readSerial(text);
  if (civil === null) return { fault: `its time is in no form that is understood${dayFirstHint(text, reading)}` };
  if (civil.day === null || civil.clock === null) {
    return { fault: `its time is on no calendar or clock${dayFirstHint(text, reading)}` };
  }
  const ms = placeInZone(civil.day + civil.clock, civil.offset, reading.zone);
  if (typeof ms === "string") return { fault: ms };
  if (!withinYears(ms)) return { fault: "its time lies outside the years 0001 to 9999" };
  return { ms: ms + decimalsToMs(civil.decimals, "down") };
}

/** A word on the other order of day and month, where that is right: only the owner of the file can say. */
function dayFirstHint(text: string, { dayFirst }: TimeReading): string {
  const other = dayFirst ? null : readSlashes(text, true);
  const isRight = other !== null && other.day !== null && other.clock !== null;
  return isRight ? "; --day-first reads the day before the month" : "";
}

/** Seconds of 10 digits, with or without decimals, or milliseconds of 13. */
function readEpoch(text: string): number | null {
  const match = /^(\d{10})(?:\.(\d+))?$|^(\d{13})(?:\.0+)?$/.exec(text);
  if (match === null) return null;
  return match[3] === undefined ? Number(match[1]) * 1000 + decimalsToMs(match[2], "down") : Number(match[3]);
}

function readIso(text: string): Civil | null {
  const match = forms.iso.exec(text);
  if (match === null) return null;
  const [, year, , month, day, ...time] = match;
  return { day: calendarMs(Number(year), Number(month), Number(day)), ...readClock(time) };
}

function readSlashes(text: string, dayFirst: boolean): Civil | null {
  const match = forms.slashes.exec(text);
  if (match === null) return null;
  const [, one, separator, two, year, ...time] = match;
  // With dots the day comes first wherever dots are used, so the order of the US does not apply.
  if (separator === "." && !dayFirst) return null;
  // With dashes a short year could stand in front as well.
  if (separator === "-" && year?.length === 2) return null;
  const [month, day] = dayFirst ? [two, one] : [one, two];
  return { day: calendarMs(fullYear(year), Number(month), Number(day)), ...readClock(time) };
}

function readMail(text: string): Civil | null {
  const match = forms.mail.exec(text);
  if (match === null) return null;
  const [, weekday, day, month, year, ...time] = match;
  const ms = calendarMs(fullYear(year), monthOf(month), Number(day));
  const named = weekday === undefined || ms === null || weekdays[new Date(ms).getUTCDay()] === weekday.toLowerCase();
  return { day: named ? ms : null, ...readClock(time) };
}

function readWords(text: string): Civil | null {
  const match = forms.words.exec(text);
  if (match === null) return null;
  const [, month, day, year, ...time] = match;
  return { day: calendarMs(Number(year), monthOf(month), Number(day)), ...readClock(time) };
}

/** A year of two digits is of this century: nobody was identified on a website in the last one. */
function fullYear(digits: string | undefined): number {
  return Number(digits) + (digits?.length === 2 ? 2000 : 0);
}

/** The days by which spreadsheets count from the end of 1899, which carry the time of day behind the point. */
function readSerial(text: string): Civil | null {
  const match = forms.serial.exec(text);
  if (match === null) return null;
  const [, days, decimals = "", ...time] = match;
  const day = firstSerialMs + Number(days) * dayMs;
  if (decimals === "") return { day, ...readClock(time) };
  return { day, clock: clockOfDecimals(decimals), decimals: undefined, offset: undefined };
}

/** A fraction of a day in milliseconds: the second that it was rounded from, where it can be one. */
export function clockOfDecimals(decimals: string): number {
  const exact = Number(`0.${decimals}`) * dayMs;
  const seconds = Math.round(exact / 1000) * 1000;
  const precision = Math.max(dayMs / 2 / 10 ** decimals.length, 0.5);
  return Math.abs(exact - seconds) <= precision ? seconds : Math.round(exact);
}

/** The number of a month by its first three letters; 0, which is on no calendar, for any others. */
function monthOf(name: string | undefined): number {
  return months.indexOf(name?.toLowerCase() ?? "") + 1;
}

/** Reads hour, minute, second, decimals, half of the day and offset; a date alone is its midnight. */
function readClock(parts: readonly (string | undefined)[]): Omit<Civil, "day"> {
  const [hour, minute, second, decimals, half, offset] = parts;
  if (hour === undefined) return { clock: 0, decimals: undefined, offset: undefined };
  const hours = half === undefined ? Number(hour) : hourOfHalf(Number(hour), half.toLowerCase());
  return { clock: clockMs(hours, Number(minute), Number(second ?? 0)), decimals, offset };
}

function hourOfHalf(hour: number, half: string): number {
  if (hour < 1 || hour > 12) return 24;
  return (hour % 12) + (half === "p" ? 12 : 0);
}

/** The moment of a time on a clock: with the offset that stands beside it, or by the clocks of a zone. */
function placeInZone(wallMs: number, offset: string | undefined, zone: string | null): number | string {
  if (offset !== undefined) {
    const ms = offsetMs(offset);
    return ms === null ? "its offset is on no clock" : wallMs - ms;
  }
  if (zone === null) return "its time has no offset, and its time zone is none that is known";
  return (
    momentInZone(wallMs, zone) ?? `its time comes twice or never in ${zone}, when clocks change; give it an offset`
  );
}
