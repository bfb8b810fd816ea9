/** Days, months, and times of day: all in UTC, as Unix milliseconds. */

/** A UTC day in milliseconds. Unix time has no leap seconds. */
export const dayMs = 86_400_000;

/** The first millisecond of the year 0001 and the first after the year 9999, both in UTC. */
export const earliestMs = calendarMs(1, 1, 1) ?? 0;
export const afterLatestMs = (calendarMs(9999, 12, 31) ?? 0) + dayMs;

/** Returns whether a timestamp is within the years 0001 to 9999 in UTC, which four digits can write. */
export function withinYears(ms: number): boolean {
  return ms >= earliestMs && ms < afterLatestMs;
}

/** Returns the UTC day of a timestamp, such as `2026-01-31`. */
export function dayOf(ms: number): string {
  return new Date(ms).toISOString().slice(0, 10);
}

/** Returns the first and the last day that the month of a UTC day can have, to be compared as text. */
export function monthOf(day: string): [first: string, last: string] {
  const month = day.slice(0, 8);
  return [`${month}01`, `${month}31`];
}

/** Returns the oldest timestamp within a retention in days, in Unix milliseconds; -Infinity if there is no retention. */
export function oldestKeptMs(days: number | null, nowMs: number): number {
  return days === null ? Number.NEGATIVE_INFINITY : nowMs - days * dayMs;
}

/** Returns the UTC midnight of a date in Unix milliseconds; null if the calendar has no such date. */
export function calendarMs(year: number, month: number, day: number): number | null {
  const date = new Date(0);
  // Date.UTC would read the years 0 to 99 as 1900 to 1999.
  date.setUTCFullYear(year, month - 1, day);
  const real = date.getUTCFullYear() === year && date.getUTCMonth() === month - 1 && date.getUTCDate() === day;
  return real ? date.getTime() : null;
}

/** Returns the milliseconds since midnight; null for a time that no clock shows, such as a leap second. */
export function clockMs(hour: number, minute: number, second: number): number | null {
  if (hour > 23 || minute > 59 || second > 59) return null;
  return ((hour * 60 + minute) * 60 + second) * 1000;
}

/** The rounding of timestamps to whole milliseconds: a bound of a query is rounded up, an imported time down. */
export type Rounding = "up" | "down";

/** Returns the decimals of a second in milliseconds, with those after the third rounded. */
export function decimalsToMs(decimals: string | undefined, rounding: Rounding): number {
  if (decimals === undefined) return 0;
  const kept = Number(decimals.slice(0, 3).padEnd(3, "0"));
  return rounding === "up" && /[1-9]/.test(decimals.slice(3)) ? kept + 1 : kept;
}
