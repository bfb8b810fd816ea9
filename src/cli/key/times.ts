/** When a key ends, as an option says it. */
import { dayMs, readMoment } from "../../contract/time.ts";
import { UserError } from "../../operator/user-error.ts";

const unitsMs = { m: 60_000, h: 3_600_000, d: dayMs } as const;

/** The moment of --expires in Unix milliseconds; throws a UserError for one that is past, and for what is none. */
export function readExpiry(text: string, nowMs: number): number {
  const ms = readMoment(/^\d{4}-\d\d-\d\d$/.test(text) ? `${text}T00:00:00Z` : text, "down");
  if (ms === null) {
    throw new UserError("--expires takes a date such as 2027-01-31, or a time such as 2027-01-31T09:00:00Z.", "", 2);
  }
  if (ms > nowMs) return ms;
  throw new UserError("--expires lies in the past, and the key would never work.", "Give a date to come.", 2);
}

/** The time of --overlap in milliseconds; throws a UserError for what is none. */
export function readOverlap(text: string): number {
  const [, count, unit] = /^(\d{1,4})([mhd])$/.exec(text) ?? [];
  if (unit === "m" || unit === "h" || unit === "d") return Number(count) * unitsMs[unit];
  if (text === "0") return 0;
  throw new UserError("--overlap takes minutes, hours or days, such as 30m, 24h or 7d, or 0.", "", 2);
}
