/** The limit per minute (§8): when it is used up, the next request waits for the window's end. */
import { serverNow } from "./answer.ts";
import type { Clock } from "./clock.ts";

export interface RateLimit {
  /** Waits until a request may be sent. */
  wait(signal: AbortSignal | undefined): Promise<void>;
  /** Reads from an answer how many requests are left. */
  read(headers: Headers): void;
  /** Lets no request pass for some time. */
  pause(ms: number): void;
}

const windowMs = 60_000;

/** A pause beyond the longest wait is not made. The server then answers 429, which the caller gets as an error. */
export function createRateLimit(clock: Clock, longestWaitMs: number): RateLimit {
  let openAtMs = Number.NEGATIVE_INFINITY;
  const pause = (ms: number) => {
    if (ms <= longestWaitMs) openAtMs = Math.max(openAtMs, clock.now() + ms);
  };
  return {
    pause,
    async wait(signal) {
      for (let ms: number; (ms = openAtMs - clock.now()) > 0; ) await clock.sleep(ms, signal);
    },
    read(headers) {
      if (headers.get("x-ratelimit-remaining") !== "0") return;
      const untilResetMs = Number(headers.get("x-ratelimit-reset")) * 1000 - serverNow(headers);
      // Anything else is the mistake of some clock.
      if (untilResetMs > 0 && untilResetMs <= windowMs) pause(untilResetMs);
    },
  };
}
