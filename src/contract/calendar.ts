/** Days, months and times of day as they are counted here: all in UTC, in Unix milliseconds. */

/** A UTC day in milliseconds; Unix time counts no leap seconds. */
export const dayMs = 86_400_000;

/** The first millisecond of the year 0001 and the first after the year 9999, both in UTC. */
export const earliestMs = calendarMs(1, 1, 1) ?? 0;
export const afterLatestMs = (calendarMs(9999, 12, 31) ?? 0) + dayMs;

/** Whether a moment lies in the years 0001 to 9999 of UTC, which is what four digits can write. */
export function withinYears(ms: number): boolean {
  return ms >= earliestMs && ms < afterLatestMs;
}

/** The UTC day of a moment, `2026-01-31`. */
export function dayOf(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10);
}

/** The first and the last day that the month of a UTC day can have, as they are compared. */
export function monthOf(day: string): [first: string, last: string] {
  const month = day.slice(0, 8);
  return [`${month}01`, `${month}31`];
}

/** The oldest moment that is kept by whoever keeps some days, in Unix milliseconds; -Infinity where null keeps all. */
export function oldestKeptMs(days: number | null, nowMs: number): number {
  return days === null ? Number.NEGATIVE_INFINITY : nowMs - days * dayMs;
}

/** The UTC midnight of a calendar date in Unix milliseconds; null where the calendar has no such day. */
export function calendarMs(year: number, month: number, day: number): number | null {
  const date = new Date(0);
  // Date.UTC would take the years 0 to 99 for 1900 to 1999.
  date.setUTCFullYear(year, month - 1, day);
  const real = date.getUTCFullYear() === year && date.getUTCMonth() === month - 1 && date.getUTCDate() === day;
  return real ? date.getTime() : null;
}

/** Milliseconds since midnight; null for what no clock shows, a leap second included. */
export function clockMs(hour: number, minute: number, second: number): number | null {
  if (hour > 23 || minute > 59 || second > 59) return null;
  return ((hour * 60 + minute) * 60 + second) * 1000;
}

/** Moments are kept to the millisecond: a bound of a query rounds up, a time that is imported down. */
export type Rounding = "up" | "down";

/** The decimals of a second in milliseconds, those past the third rounded. */
export function decimalsToMs(decimals: string | undefined, rounding: Rounding): number {
  if (decimals === undefined) return 0;
  const kept = Number(decimals.slice(0, 3).padEnd(3, "0"));
  return rounding === "up" && /[1-9]/.test(decimals.slice(3)) ? kept + 1 : kept;
}
