/** Times as vendors write them. A date that no calendar has, or that could be two, is refused and never guessed. */
import { calendarMs, clockMs, decimalsToMs, readMoment, withinYears } from "../contract/time.ts";

export interface TimeReading {
  /** The IANA name of the zone for times without an offset. */
  readonly zone: string;
  /** Whether 01/02/2026 is the first of February. */
  readonly dayFirst: boolean;
}

export type ReadTime = { readonly ms: number } | { readonly fault: string };

type Civil = { day: number | null; clock: number | null; decimals: string | undefined; offset: string | undefined };

const clock = String.raw`(\d{1,2}):(\d{2})(?::(\d{2})(?:[.,](\d+))?)?(?:\s*([AaPp])\.?[Mm]\.?)?`;
const offset = String.raw`\s*(Z|UTC|GMT|(?:(?:UTC|GMT)\s*)?[+-]\d{2}(?::?\d{2})?(?: UTC)?|[ECMP][SD]T)?`;
const forms = {
  iso: new RegExp(`^(\\d{4})([/-])(\\d{2})\\2(\\d{2})(?:[T ]\\s*${clock}${offset})?$`, "i"),
  slashes: new RegExp(`^(\\d{1,2})([/.-])(\\d{1,2})\\2(\\d{4})(?:,?[T ]\\s*${clock}${offset})?$`, "i"),
  mail: new RegExp(
    `^(?:([A-Z]{3})[a-z]*,\\s*)?(\\d{1,2})[ -]([A-Z]{3})[a-z]*[ -](\\d{4})(?:,?\\s+${clock}${offset})?$`,
    "i",
  ),
  words: new RegExp(`^([A-Z]{3})[a-z]* (\\d{1,2}),? (\\d{4})(?:,?\\s+(?:at )?${clock}${offset})?$`, "i"),
};
const months = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
const weekdays = ["sun", "mon", "tue", "wed", "thu", "fri", "sat"];
/** The zones that mail headers may name, in hours from UTC. */
const namedOffsets: Record<string, number> = { EST: -5, EDT: -4, CST: -6, CDT: -5, MST: -7, MDT: -6, PST: -8, PDT: -7 };

/** Reads a time in any of the forms that vendors use; what is finer than a millisecond is cut. */
export function readTime(text: string, reading: TimeReading): ReadTime {
  const strict = readMoment(text, "down");
  if (strict !== null) return { ms: strict };
  const epoch = readEpoch(text);
  if (epoch !== null) return { ms: epoch };
  const civil = readIso(text) ?? readSlashes(text, reading.dayFirst) ?? readMail(text) ?? readWords(text);
  // The other order of day and month may be the right one, which is for the owner of the file to say.
  const hint = !reading.dayFirst && forms.slashes.test(text) ? "; --day-first reads the day before the month" : "";
  if (civil === null) return { fault: `its time is in no form that is understood${hint}` };
  if (civil.day === null || civil.clock === null) return { fault: `its time is on no calendar or clock${hint}` };
  const ms = placeInZone(civil.day + civil.clock, civil.offset, reading.zone);
  if (typeof ms === "string") return { fault: ms };
  if (!withinYears(ms)) return { fault: "its time lies outside the years 0001 to 9999" };
  return { ms: ms + decimalsToMs(civil.decimals, "down") };
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
  // With dots the day comes first wherever they are used: not a case for the order of the US.
  if (separator === "." && !dayFirst) return null;
  const [month, day] = dayFirst ? [two, one] : [one, two];
  return { day: calendarMs(Number(year), Number(month), Number(day)), ...readClock(time) };
}

function readMail(text: string): Civil | null {
  const match = forms.mail.exec(text);
  if (match === null) return null;
  const [, weekday, day, month, year, ...time] = match;
  const ms = calendarMs(Number(year), monthOf(month), Number(day));
  const named = weekday === undefined || ms === null || weekdays[new Date(ms).getUTCDay()] === weekday.toLowerCase();
  return { day: named ? ms : null, ...readClock(time) };
}

function readWords(text: string): Civil | null {
  const match = forms.words.exec(text);
  if (match === null) return null;
  const [, month, day, year, ...time] = match;
  return { day: calendarMs(Number(year), monthOf(month), Number(day)), ...readClock(time) };
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

/** The moment at which clocks show a time: with the offset that stands beside it, or by the clocks of a zone. */
function placeInZone(wallMs: number, offset: string | undefined, zone: string): number | string {
  if (offset !== undefined) {
    const ms = offsetMs(offset.toUpperCase());
    return ms === null ? "its offset is on no clock" : wallMs - ms;
  }
  if (zone === "UTC") return wallMs;
  const wall = Temporal.Instant.fromEpochMilliseconds(wallMs).toZonedDateTimeISO("UTC").toPlainDateTime();
  try {
    return wall.toZonedDateTime(zone, { disambiguation: "reject" }).epochMilliseconds;
  } catch {
    return `its time comes twice or never in ${zone}, when clocks change; give it an offset`;
  }
}

function offsetMs(offset: string): number | null {
  const hours = namedOffsets[offset];
  if (hours !== undefined) return hours * 3_600_000;
  // `UTC +00:00` and `+0000 UTC` say the same twice.
  const match = /([+-])(\d{2}):?(\d{2})?(?: UTC)?$/.exec(offset);
  if (match === null) return 0;
  const ms = clockMs(Number(match[2]), Number(match[3] ?? 0), 0);
  return ms === null ? null : ms * (match[1] === "-" ? -1 : 1);
}

/** Whether a text is the name of a zone that clocks follow. */
export function isZone(name: string): boolean {
  try {
    Temporal.Instant.fromEpochMilliseconds(0).toZonedDateTimeISO(name);
    return !/^[+-]/.test(name);
  } catch {
    return false;
  }
}
