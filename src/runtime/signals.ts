/** The signals that end a program: the first one stops it in an orderly way, the second one at once. */
import { existsSync, readFileSync } from "node:fs";
import { constants } from "node:os";
import { setImmediate as nextTurn } from "node:timers/promises";
import { isChildProcess } from "./program-name.ts";
import { UserError } from "./user-error.ts";

/** Ctrl-C, SIGTERM, and SIGHUP, which the closing of a terminal sends. */
const endingSignals = ["SIGINT", "SIGTERM", "SIGHUP"] as const;
type EndingSignal = (typeof endingSignals)[number];

/** The exit status of a command that a signal stopped, as a shell reports it. */
export const statusAfter = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 } as const satisfies Record<EndingSignal, number>;

/**
 * Returns the exit status of a service that a signal stopped: 0 for Ctrl-C and SIGTERM, which ask it to stop. After the
 * closing of a terminal, a supervisor is to start it again.
 */
export function statusOfService(signal: EndingSignal): number {
  return signal === "SIGHUP" ? statusAfter.SIGHUP : 0;
}

/**
 * Returns whether the process may ignore SIGHUP, as under `nohup`; a listener would undo that. Only Linux reports it. On
 * other systems, the closing of a terminal ends the process at once.
 */
function mayIgnoreHangup(): boolean {
  const path = "/proc/self/status";
  const status = existsSync(path) ? readFileSync(path, "utf8") : "";
  const [, ignored] = /^SigIgn:\s*([0-9a-f]+)$/m.exec(status) ?? [];
  return ignored === undefined || ((BigInt(`0x${ignored}`) >> BigInt(constants.signals.SIGHUP - 1)) & 1n) === 1n;
}

/** Listens until `forget` is called. The first signal aborts `stop`, and is its reason; a second one ends the process. */
export function listenForSignals() {
  const stop = new AbortController();
  const signals = mayIgnoreHangup() ? endingSignals.slice(0, 2) : endingSignals;
  const abort = (signal: EndingSignal) => {
    forget();
    stop.abort(signal);
  };
  const forget = () => {
    for (const signal of signals) process.off(signal, abort);
  };
  for (const signal of signals) process.on(signal, abort);
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
