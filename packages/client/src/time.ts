/** The clock of a client, which a test replaces, and durations as people write them. */
import { SettingError } from "./errors.ts";

export interface Clock {
  /** Milliseconds that never go back, from any beginning. */
  now(): number;
  /** Rejects with the reason of the signal when that comes first. */
  sleep(ms: number, signal: AbortSignal | undefined): Promise<void>;
  /** A number from 0 to 1, so that pauses differ between clients. */
  random(): number;
}

/** The longest delay of setTimeout. A longer one fires at once. */
const maxTimerMs = 2 ** 31 - 1;

export const systemClock: Clock = {
  now: () => performance.now(),
  random: Math.random,
  async sleep(ms, signal) {
    signal?.throwIfAborted();
    /** Removes the listener, of which a long life of the signal would collect many. */
    const end = new AbortController();
    await new Promise<void>((resolve, reject) => {
      const timer = setTimeout(resolve, Math.min(ms, maxTimerMs));
      const abort = () => {
        clearTimeout(timer);
        reject(signal?.reason);
      };
      signal?.addEventListener("abort", abort, { once: true, signal: end.signal });
    }).finally(() => end.abort());
  },
};

/** Returns a time as the API takes it: a Date and a day as RFC 3339, any other text as it is, for the server to check. */
export function toTime(setting: string, time: string | number | Date): string {
  const isDay = typeof time === "string" && /^\d{4}-\d{2}-\d{2}$/.test(time);
  if (!isDay && !(time instanceof Date)) return String(time);
  const date = new Date(time);
  // A day that does not exist, such as February 30, is the next month for some runtimes.
  const isValid = !Number.isNaN(date.getTime()) && (!isDay || date.toISOString().startsWith(time));
  if (isValid) return date.toISOString();
  throw new SettingError(`${setting} takes a Date, a day, or a time with its offset, such as 2026-01-31T09:15:00Z.`);
}

/** Milliseconds, or a number with its unit: "500ms", "30s", "5m", "2h", "1d". */
export type Duration = number | `${number}${"ms" | "s" | "m" | "h" | "d"}`;

const unitMs: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** A duration in milliseconds; throws a SettingError that names the setting. */
export function toMs(setting: string, duration: Duration): number {
  const [, count = "", unit = "ms"] = /^(\d+(?:\.\d+)?)(ms|s|m|h|d)$/.exec(String(duration)) ?? [];
  const ms = typeof duration === "number" ? duration : Number(count || Number.NaN) * (unitMs[unit] ?? Number.NaN);
  if (Number.isFinite(ms) && ms >= 0) return Math.round(ms);
  throw new SettingError(`${setting} takes a time such as "30s", "5m", "2h" or "1d".`);
}
