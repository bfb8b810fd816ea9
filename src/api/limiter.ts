/** The limiter (§8): it counts the requests of each key in a fixed window, the UTC clock minute, in this process. */
import { windowMs } from "../contract/limits.ts";

export type Limiter = ReturnType<typeof createLimiter>;

/**
 * Makes a limiter. Its memory is bounded by the keys of one minute: the counts are dropped when the minute is over. A
 * clock that is set back begins no new window, so that nobody gets a second one. A window also ends when a minute has
 * passed on the monotonic clock, so that nobody waits until a clock that was set back has caught up.
 */
export function createLimiter(limit: number) {
  const counts = new Map<number, number>();
  let minute = Number.NEGATIVE_INFINITY;
  let startedMs = Number.NEGATIVE_INFINITY;
  return {
    limit,
    /**
     * Counts one request of a key, unless its limit is used up, and returns the number of requests that are left in the window.
     * `elapsedMs` is the time of a monotonic clock.
     */
    hit(key: number, nowMs: number, elapsedMs: number): { allowed: boolean; remaining: number } {
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
    /** Returns the number of keys that have sent requests in the current window. */
    size: () => counts.size,
  };
}
