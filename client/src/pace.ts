/** The limit per minute (§8): when it is used up, the next request waits for the window's end. */
import { serverNow } from "./answer.ts";
import type { Clock } from "./clock.ts";

export interface Pace {
  /** Waits until a request may be sent. */
  wait(signal: AbortSignal | undefined): Promise<void>;
  /** Reads what an answer says of the window. */
  note(headers: Headers): void;
  /** Sends nothing for so long. */
  pause(ms: number): void;
}

const windowMs = 60_000;

/** Pauses longer than the longest wait are not made: the server then answers 429, and the caller hears of it. */
export function createPace(clock: Clock, longestWaitMs: number): Pace {
  let openAtMs = Number.NEGATIVE_INFINITY;
  const pause = (ms: number) => {
    if (ms <= longestWaitMs) openAtMs = Math.max(openAtMs, clock.now() + ms);
  };
  return {
    pause,
    async wait(signal) {
      for (let ms: number; (ms = openAtMs - clock.now()) > 0; ) await clock.sleep(ms, signal);
    },
    note(headers) {
      if (headers.get("x-ratelimit-remaining") !== "0") return;
      const untilResetMs = Number(headers.get("x-ratelimit-reset")) * 1000 - serverNow(headers);
      // Anything else is the mistake of some clock.
      if (untilResetMs > 0 && untilResetMs <= windowMs) pause(untilResetMs);
    },
  };
}
