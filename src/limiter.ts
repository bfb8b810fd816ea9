/** The fixed window of one UTC clock minute (§8): it counts requests per key, in this process. */
import { windowMs } from "./contract/limits.ts";

export interface Verdict {
  readonly allowed: boolean;
  /** Requests left in the window, this one counted. */
  readonly remaining: number;
}

export interface Limiter {
  readonly limit: number;
  /** Counts one request of a key, unless its limit is used up: a refused request counts nowhere. */
  hit(key: number, nowMs: number): Verdict;
  /** How many keys have called in the current window. */
  size(): number;
}

/** The Unix second at which the window of a moment ends. */
export function windowEndSeconds(nowMs: number): number {
  return (Math.floor(nowMs / windowMs) + 1) * (windowMs / 1000);
}

/** Memory is bounded by the keys that call within one minute: the counts are dropped when the minute changes. */
export function createLimiter(limit: number): Limiter {
  const counts = new Map<number, number>();
  let current = 0;
  return {
    limit,
    hit(key, nowMs) {
      const window = Math.floor(nowMs / windowMs);
      if (window !== current) {
        counts.clear();
        current = window;
      }
      const used = counts.get(key) ?? 0;
      if (used >= limit) return { allowed: false, remaining: 0 };
      counts.set(key, used + 1);
      return { allowed: true, remaining: limit - used - 1 };
    },
    size: () => counts.size,
  };
}
