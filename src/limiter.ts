/** The fixed window of one UTC clock minute (§8): it counts requests per key, in this process. */
import { windowMs } from "./contract/limits.ts";

interface Verdict {
  readonly allowed: boolean;
  /** Requests left in the window, this one counted. */
  readonly remaining: number;
}

export interface Limiter {
  readonly limit: number;
  /**
   * Counts one request of a key, unless its limit is used up: a refused request counts nowhere. `elapsedMs` is of a
   * clock that nobody sets, and that only goes on.
   */
  hit(key: number, nowMs: number, elapsedMs: number): Verdict;
  /** How many keys have called in the current window. */
  size(): number;
}

/**
 * Memory is bounded by the keys that call within one minute: the counts are dropped when the minute is over. A clock
 * that is set back begins no new minute, so nobody gets a second window. A window also ends when a minute has really
 * gone by, so nobody waits until a clock that was set back has caught up.
 */
export function createLimiter(limit: number): Limiter {
  const counts = new Map<number, number>();
  let minute = Number.NEGATIVE_INFINITY;
  let startedMs = Number.NEGATIVE_INFINITY;
  return {
    limit,
    hit(key, nowMs, elapsedMs) {
      const minuteNow = Math.floor(nowMs / windowMs);
      if (minuteNow > minute || elapsedMs - startedMs >= windowMs) {
        counts.clear();
        minute = minuteNow;
        startedMs = elapsedMs - (nowMs - minuteNow * windowMs);
      }
      const used = counts.get(key) ?? 0;
      if (used >= limit) return { allowed: false, remaining: 0 };
      counts.set(key, used + 1);
      return { allowed: true, remaining: limit - used - 1 };
    },
    size: () => counts.size,
  };
}
