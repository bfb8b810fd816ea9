/** The process: how it ends, its standard streams, and its priority. */
import { existsSync, readdirSync, writeSync } from "node:fs";
import { setPriority } from "node:os";
import { inOneLine, UserError } from "./user-error.ts";

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

/** Prints a message for a person on standard error. */
export function printMessage(text: string): void {
  writeNow(2, `${text}\n`);
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
  const folder = "/proc/self/task";
  return existsSync(folder) ? readdirSync(folder).map(Number) : [0];
}
