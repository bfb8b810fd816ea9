/** The process: how it ends, the signals that end it, its standard streams, its priority. */
import { readdirSync, readFileSync, writeSync } from "node:fs";
import { constants, setPriority } from "node:os";
import { adminCommand } from "./program-name.ts";
import { inOneLine, orElse, UserError } from "./user-error.ts";

/** Ends the process after its reason was printed. */
export function endWith(cause: unknown): never {
  process.exit(sayWhy(cause));
}

/** Prints why the program cannot go on, and returns its exit status. A mistake of ours shows its message, and no stack trace. */
export function sayWhy(cause: unknown): number {
  const said = cause instanceof Error ? `${cause.name}: ${cause.message}` : "unknown error";
  const line = cause instanceof UserError ? cause.sentence : inOneLine(`Leadfile failed: ${said}`);
  printMessage(line);
  return cause instanceof UserError ? cause.status : 1;
}

export const endingSignals = ["SIGINT", "SIGTERM", "SIGHUP"] as const;
export type EndingSignal = (typeof endingSignals)[number];

/** The exit status of a process that a signal ended, as a shell reports it. */
export const statusAfter = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 } as const satisfies Record<EndingSignal, number>;

/**
 * The status of a service after a signal: 0 for Ctrl-C and SIGTERM, which ask it to stop. After the closing of a terminal
 * a supervisor is to start it again.
 */
export function statusOfService(signal: EndingSignal): number {
  return signal === "SIGHUP" ? statusAfter.SIGHUP : 0;
}

/** Calls a listener at each ending signal, until the returned function is called. */
export function onEndingSignal(listener: (signal: EndingSignal) => void): () => void {
  const signals = mayIgnoreHangup() ? endingSignals.slice(0, 2) : endingSignals;
  for (const signal of signals) process.on(signal, listener);
  return () => {
    for (const signal of signals) process.off(signal, listener);
  };
}

/**
 * Returns whether the process may ignore SIGHUP, as under `nohup`; a listener would undo that. Only Linux reports it. Other
 * systems get no listener, so without `nohup` the closing of a terminal ends the process at once.
 */
function mayIgnoreHangup(): boolean {
  const status = orElse(() => readFileSync("/proc/self/status", "utf8"), "");
  const [, ignored] = /^SigIgn:\s*([0-9a-f]+)$/m.exec(status) ?? [];
  return ignored === undefined || ((BigInt(`0x${ignored}`) >> BigInt(constants.signals.SIGHUP - 1)) & 1n) === 1n;
}

/**
 * Writes all of a text to standard output (1) or standard error (2) before it returns, so that the end of the process
 * loses nothing. Returns the code of an error.
 */
export function writeNow(stream: 1 | 2, text: string): string | null {
  const bytes = Buffer.from(text);
  for (let done = 0; done < bytes.length; ) {
    try {
      done += writeSync(stream, bytes, done);
    } catch (cause) {
      const code = systemCode(cause) ?? "unknown";
      if (code !== "EAGAIN") return code;
      // The pipe is full until its reader has read.
      Bun.sleepSync(1);
    }
  }
  return null;
}

/** Prints a message for a person on standard error. On a terminal, its lines break between words. */
export function printMessage(text: string): void {
  writeNow(2, `${wrapped(text, process.stderr)}\n`);
}

/**
 * Breaks the lines of a text between words if the stream is a terminal, which would break them within words. Columns, JSON,
 * indented lines, and commands with a pipe stay as they are.
 */
export function wrapped(text: string, stream: NodeJS.WriteStream): string {
  const width = columnsOf(stream);
  if (width === null) return text;
  return text.replaceAll(/^(?![\s{[])(?!.*(?: {2}| \| )).+$/gm, (line) => wrapAt(width, line));
}

/** A command in a text, up to the end of its sentence, or an option with its value. */
const unbroken = new RegExp(
  `\\b(?:${adminCommand}|leadfile-admin|bun start|chmod|chown) .*?(?=[.,;:)]?$|[.,;:)] | \\()|--[\\w-]+ \\S+`,
  "gm",
);
/** Takes the place of a space that must not become a line break. */
const glue = "\u{e000}";

/** Breaks a text between words. A command stays on one line, so that it can be copied. */
export function wrapAt(width: number, text: string): string {
  return Bun.wrapAnsi(
    text.replaceAll(unbroken, (found) => found.replaceAll(" ", glue)),
    width,
  ).replaceAll(glue, " ");
}

/** The width of a terminal; null if the stream is none. */
export function columnsOf(stream: NodeJS.WriteStream): number | null {
  return stream.isTTY && stream.columns > 0 ? stream.columns : null;
}

/** Returns the error code of a system error, such as ENOENT; null for any other error. */
export function systemCode(cause: unknown): string | null {
  return cause instanceof Error && "code" in cause && typeof cause.code === "string" ? cause.code : null;
}

/** The option of a child process of the server: it runs at a low priority, and ends with its standard input. */
export const childOption = "--child";

/** Returns whether this process is a child of the server. */
export function isChildProcess(): boolean {
  return process.argv.includes(childOption);
}

/** Lowers the priority of all threads of this process. Later threads inherit it. */
export function lowerPriority(): void {
  for (const thread of threads()) {
    try {
      setPriority(thread, 10);
    } catch {
      // A hardened service may not set it, and a thread may have just ended.
    }
  }
}

/** Linux sets the priority of each thread separately. Other systems have no such folder, and 0 is the whole process. */
function threads(): number[] {
  return orElse(() => readdirSync("/proc/self/task").map(Number), [0]);
}
