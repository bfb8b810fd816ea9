/** Ctrl-C and SIGTERM for commands that run until then: the first one ends them in order, a second one at once. */
import { setTimeout as sleep } from "node:timers/promises";

/** Waits so many milliseconds. True when it is time to end, be it before the wait or during it. */
export type Pause = (ms: number) => Promise<boolean>;

/**
 * Listens from the first wait on: until then Ctrl-C ends the process. A companion is also told by the end of its
 * standard input.
 */
export function createPause(isCompanion: boolean): Pause {
  let stop: AbortSignal | null = null;
  return async (ms) => {
    stop ??= stopSignal(isCompanion);
    await sleepUnlessStopped(ms, stop);
    return stop.aborted;
  };
}

/** Aborted by the first SIGINT or SIGTERM. */
export function stopSignal(isCompanion = false): AbortSignal {
  const stop = new AbortController();
  const signals = ["SIGINT", "SIGTERM"] as const;
  const abort = () => {
    for (const signal of signals) process.removeListener(signal, abort);
    stop.abort();
  };
  for (const signal of signals) process.on(signal, abort);
  if (isCompanion) process.stdin.once("end", abort).resume();
  return stop.signal;
}

/** Waits so many milliseconds, or until the signal comes. */
export async function sleepUnlessStopped(ms: number, stop: AbortSignal): Promise<void> {
  await sleep(ms, undefined, { signal: stop }).catch(() => undefined);
}
