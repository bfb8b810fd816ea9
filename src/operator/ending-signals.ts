/** The signals that ask a process to end: Ctrl-C, a supervisor, and the closing of its terminal. */
import { readFileSync } from "node:fs";
import { constants } from "node:os";

export const endingSignals = ["SIGINT", "SIGTERM", "SIGHUP"] as const;
export type EndingSignal = (typeof endingSignals)[number];

/** The status of a process that one of them ended, as a shell says it. */
export const statusAfter = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 } as const satisfies Record<EndingSignal, number>;

/**
 * The status of a service after a signal: 0 for Ctrl-C and SIGTERM, which ask it to stop. After the closing of a terminal
 * a supervisor is to start it again.
 */
export function statusOfService(signal: EndingSignal): number {
  return signal === "SIGHUP" ? statusAfter.SIGHUP : 0;
}

/** Calls a listener at each of them, until the function that it gives is called. */
export function onEndingSignal(listener: (signal: EndingSignal) => void): () => void {
  const signals = mayIgnoreHangup() ? endingSignals.slice(0, 2) : endingSignals;
  for (const signal of signals) process.on(signal, listener);
  return () => {
    for (const signal of signals) process.off(signal, listener);
  };
}

/**
 * Whether the closing of its terminal may leave this process alone, as under `nohup`; a listener would take that away. Only
 * Linux tells. Elsewhere there is no listener, and without `nohup` the closing of a terminal ends the process at once.
 */
function mayIgnoreHangup(): boolean {
  try {
    const ignored = /^SigIgn:\s*([0-9a-f]+)$/m.exec(readFileSync("/proc/self/status", "utf8"))?.[1] ?? "";
    return ((BigInt(`0x${ignored}`) >> BigInt(constants.signals.SIGHUP - 1)) & 1n) === 1n;
  } catch {
    return true;
  }
}
