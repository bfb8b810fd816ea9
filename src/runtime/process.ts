/** The end of the process, and its standard streams. */
import { writeSync } from "node:fs";
import { adminCommand } from "./program-name.ts";
import { inOneLine, UserError } from "./user-error.ts";

/** Ends the process after its reason was printed. */
export function exitBecause(cause: unknown): never {
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
      const { code = "unknown" }: { readonly code?: string } = Object(cause);
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
/** Stands for a space that must not become a line break. */
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
