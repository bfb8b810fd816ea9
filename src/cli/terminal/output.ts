/** What a command says: the result to standard output, all that is meant for a person's eyes to standard error. */
import { fstatSync, statSync, writeSync } from "node:fs";
import { UserError } from "../../operator/user-error.ts";

/** What a command works with, apart from the store. */
export interface Output {
  /** Whether standard output carries one JSON value and nothing else. */
  readonly json: boolean;
  /** The result: a value for machines, or its text for people. False when nobody reads it any more. */
  result(value: unknown, text: string): boolean;
  /** A message, a warning or progress. */
  say(text: string): void;
}

export function createOutput(json: boolean): Output {
  return {
    json,
    result(value, text) {
      const said = json ? JSON.stringify(value) : text;
      return said === "" || print(`${said}\n`);
    },
    say(text) {
      if (text !== "") write(2, `${text}\n`);
    },
  };
}

/** Writes to standard output; false when the reader has had enough, as head does. Throws a UserError when it cannot. */
export function print(text: string): boolean {
  const code = write(1, text);
  if (code === null) return true;
  if (code === "EPIPE") return false;
  throw new UserError(`Standard output could not be written (${code}).`, "Check where it goes, and the space there.");
}

/** Whether nobody can ever read standard output: it is closed, or goes to /dev/null, which is what Bun opens instead. */
export function leadsNowhere(): boolean {
  try {
    const output = fstatSync(1);
    return output.isCharacterDevice() && output.rdev === statSync("/dev/null").rdev;
  } catch {
    return true;
  }
}

/** Writes at once and wholly, so that nothing is lost when the process ends; the code of the error if it fails. */
function write(file: 1 | 2, text: string): string | null {
  const bytes = Buffer.from(text);
  for (let done = 0; done < bytes.length; ) {
    try {
      done += writeSync(file, bytes, done);
    } catch (cause) {
      const code = cause instanceof Error && "code" in cause ? String(cause.code) : "unknown";
      if (code !== "EAGAIN") return code;
      // The pipe is full; its reader needs a moment.
      Bun.sleepSync(1);
    }
  }
  return null;
}
