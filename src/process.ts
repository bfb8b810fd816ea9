/** The process: how it ends, the signals that end it, its standard streams, its priority. */

import { readdirSync, readFileSync, writeSync } from "node:fs";
import { constants, setPriority } from "node:os";
import { inOneLine, UserError } from "./user-error.ts";

/** Ends the process, once it was said why. */
export function endWith(cause: unknown): never {
  process.exit(sayWhy(cause));
}

/** Says why the program cannot go on, and returns its status. A mistake of ours shows its message, and no stack trace. */
export function sayWhy(cause: unknown): number {
  const said = cause instanceof Error ? `${cause.name}: ${cause.message}` : "unknown error";
  const line = cause instanceof UserError ? cause.sentence : inOneLine(`Leadfile failed: ${said}`);
  writeNow(2, `${line}\n`);
  return cause instanceof UserError ? cause.status : 1;
}

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

/**
 * Writes all of a text to standard output (1) or standard error (2) before it returns, so that the end of the process
 * loses nothing. Gives the code of an error.
 */
export function writeNow(stream: 1 | 2, text: string): string | null {
  const bytes = Buffer.from(text);
  for (let done = 0; done < bytes.length; ) {
    try {
      done += writeSync(stream, bytes, done);
    } catch (cause) {
      const code = systemCode(cause) ?? "unknown";
      if (code !== "EAGAIN") return code;
      // The pipe is full; its reader needs a moment.
      Bun.sleepSync(1);
    }
  }
  return null;
}

/** Null for an error that has none. */
export function systemCode(cause: unknown): string | null {
  return cause instanceof Error && "code" in cause && typeof cause.code === "string" ? cause.code : null;
}

/** Tells a command that it runs beside another process: it runs at a low priority, and ends with its standard input. */
export const companionOption = "--companion";

/** Lets this process run at a low priority, with all its threads. Those that come later take it from their maker. */
export function giveWay(): void {
  for (const thread of threads()) {
    try {
      setPriority(thread, 10);
    } catch {
      // A hardened service may not set it, and a thread may have just ended.
    }
  }
}

/** Linux sets the priority of each thread alone. Elsewhere there is no such folder, and 0 is the whole process. */
function threads(): number[] {
  try {
    return readdirSync("/proc/self/task").map(Number);
  } catch {
    return [0];
  }
}
