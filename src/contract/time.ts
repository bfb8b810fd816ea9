/** The timestamps of the API (§2.2, §4.1): RFC 3339 coming in, UTC with three decimals going out. */
import { calendarMs, clockMs, decimalsToMs, type Rounding, withinYears } from "./calendar.ts";

/**
 * The shape of an RFC 3339 date-time with an offset, without leap seconds. It does not know the days of a month. The
 * colon of an offset may be missing: Python's %z writes none.
 */
export const rfc3339 =
  /^(\d{4})-(\d{2})-(\d{2})[Tt]([01]\d|2[0-3]):([0-5]\d):([0-5]\d)(?:\.(\d+))?(?:[Zz]|([+-])([01]\d|2[0-3]):?([0-5]\d))$/;

/**
 * Reads an RFC 3339 date-time with an offset into Unix milliseconds.
 * Null for any other text, a date that no calendar has, and a year outside 0001 to 9999 in UTC.
 */
export function parseTime(text: string, rounding: Rounding): number | null {
  const match = rfc3339.exec(text);
  if (match === null) return null;
  const [, year, month, day, hour, minute, second, decimals, sign, offsetHours, offsetMinutes] = match;
  const midnightMs = calendarMs(Number(year), Number(month), Number(day));
  const sinceMidnightMs = clockMs(Number(hour), Number(minute), Number(second));
  const offsetMs = clockMs(Number(offsetHours ?? 0), Number(offsetMinutes ?? 0), 0);
  if (midnightMs === null || sinceMidnightMs === null || offsetMs === null) return null;
  const whole = midnightMs + sinceMidnightMs - (sign === "-" ? -offsetMs : offsetMs);
  return withinYears(whole) ? whole + decimalsToMs(decimals, rounding) : null;
}

/** Writes Unix milliseconds as `2026-01-31T09:15:00.123Z`. */
export function formatTime(ms: number): string {
  return new Date(ms).toISOString();
}
