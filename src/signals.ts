/** Ctrl-C and SIGTERM: the first one stops the program in an orderly way, the second one at once. */
import { setImmediate as nextTurn } from "node:timers/promises";
import { isChildProcess } from "./process.ts";
import { UserError } from "./user-error.ts";

const endingSignals = ["SIGINT", "SIGTERM"] as const;
type EndingSignal = (typeof endingSignals)[number];

/** The exit status of a command that a signal stopped, as a shell reports it. */
const statusAfter = { SIGINT: 130, SIGTERM: 143 } as const satisfies Record<EndingSignal, number>;

/** Listens until `forget` is called. The first signal aborts `stop`, and is its reason; a second one ends the process. */
export function listenForSignals() {
  const stop = new AbortController();
  const abort = (signal: EndingSignal) => {
    forget();
    stop.abort(signal);
  };
  const forget = () => {
    for (const signal of endingSignals) process.off(signal, abort);
  };
  for (const signal of endingSignals) process.on(signal, abort);
  // The open input must not keep the child process running.
  if (isChildProcess()) {
    process.stdin
      .once("end", () => abort("SIGTERM"))
      .resume()
      .unref();
  }
  return { stop: stop.signal, forget };
}

/**
 * Returns a signal that the first ending signal of the system aborts, as its reason. A second one ends the process at once.
 * To a child process, the end of its standard input is a SIGTERM.
 */
export function stopSignal(): AbortSignal {
  return listenForSignals().stop;
}

/** Returns the error of a command that a signal has stopped. */
export function stoppedBy(signal: EndingSignal, what: string, advice = "Run it again to complete it."): UserError {
  return new UserError(what, advice, statusAfter[signal]);
}

/** Throws a UserError if a signal has stopped the work: `left` says what there is then. */
export async function unlessStopped<Result>(work: Promise<Result>, left: string): Promise<Result> {
  try {
    return await work;
  } catch (cause) {
    const signal = endingSignals.find((signal) => signal === cause);
    if (signal === undefined) throw cause;
    throw stoppedBy(signal, `Stopped. ${left}`);
  }
}

/**
 * Runs steps until they end or a signal arrives. Each step yields the number done so far. Returns the last number and
 * the signal; null if there was none. A second signal ends the process at once.
 */
export async function runSteps(
  steps: AsyncIterable<number>,
  onStep: (done: number) => void,
): Promise<{ readonly done: number; readonly signal: EndingSignal | null }> {
  const { stop, forget } = listenForSignals();
  let done = 0;
  try {
    for await (done of steps) {
      onStep(done);
      await nextTurn();
      // The steps may still complete something, such as the audit record.
      if (stop.aborted) return { done, signal: stop.reason };
    }
    return { done, signal: null };
  } finally {
    forget();
  }
}
