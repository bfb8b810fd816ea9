/** Signals that end commands which run until then: the first one ends them in order, a second one at once. */
import { setTimeout as sleep } from "node:timers/promises";
import { type EndingSignal, onEndingSignal } from "../../process.ts";

/** Waits some milliseconds. Gives the signal when it is time to end, be it before the wait or during it; else null. */
export type Pause = (ms: number) => Promise<EndingSignal | null>;

/**
 * Listens from the first wait on, until the signals are forgotten: at any other time a signal ends the process at once. To
 * a companion the end of its standard input is a SIGTERM.
 */
export function createSignals(isCompanion: boolean): { readonly pause: Pause; readonly forget: () => void } {
  let listening: Listening | null = null;
  return {
    async pause(ms) {
      listening ??= listen(isCompanion);
      const { stop } = listening;
      await sleepUnlessStopped(ms, stop);
      return stop.aborted ? stop.reason : null;
    },
    forget: () => listening?.forget(),
  };
}

/** Aborted by the first signal, which is the reason. */
export function stopSignal(): AbortSignal {
  return listen(false).stop;
}

interface Listening {
  readonly stop: AbortSignal;
  readonly forget: () => void;
}

function listen(isCompanion: boolean): Listening {
  const stop = new AbortController();
  const abort = (signal: EndingSignal) => {
    forget();
    stop.abort(signal);
  };
  const forget = onEndingSignal(abort);
  // It must not keep a companion that somebody else has ended: nobody would start another one.
  if (isCompanion)
    process.stdin
      .once("end", () => abort("SIGTERM"))
      .resume()
      .unref();
  return { stop: stop.signal, forget };
}

/** Waits some milliseconds, or until the signal comes. */
export async function sleepUnlessStopped(ms: number, stop: AbortSignal): Promise<void> {
  await sleep(ms, undefined, { signal: stop }).catch(() => undefined);
}
