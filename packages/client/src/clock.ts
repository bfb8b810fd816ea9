/** The clock of a client. A test passes its own. */

export interface Clock {
  /** Milliseconds that never go back, from any beginning. */
  now(): number;
  /** Rejects with the reason of the signal when that comes first. */
  sleep(ms: number, signal: AbortSignal | undefined): Promise<void>;
  /** A number from 0 to 1, so that pauses differ between clients. */
  random(): number;
}

/** A timer of more than this fires at once. */
const longestTimerMs = 2 ** 31 - 1;

export const systemClock: Clock = {
  now: () => performance.now(),
  random: Math.random,
  sleep(ms, signal) {
    return new Promise((resolve, reject) => {
      if (signal?.aborted === true) return reject(signal.reason);
      const abort = () => {
        clearTimeout(timer);
        reject(signal?.reason);
      };
      const timer = setTimeout(
        () => {
          signal?.removeEventListener("abort", abort);
          resolve();
        },
        Math.min(ms, longestTimerMs),
      );
      signal?.addEventListener("abort", abort, { once: true });
    });
  },
};
