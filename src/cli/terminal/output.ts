/** What a command says: the result on standard output, and messages for a person on standard error. */
import { fstatSync, statSync } from "node:fs";
import { inEscapes } from "../../operator/printable.ts";
import { writeNow } from "../../operator/standard-streams.ts";
import { UserError } from "../../user-error.ts";

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
      const said = json ? forTerminal(JSON.stringify(value)) : text;
      return said === "" || print(`${said}\n`);
    },
    say(text) {
      if (text !== "") writeNow(2, `${text}\n`);
    },
  };
}

/** Texts of strangers for standard output, as JSON has them. Programs get them as they are. */
export function forTerminal(json: string): string {
  return process.stdout.isTTY ? inEscapes(json) : json;
}

/** Writes to standard output; false when the reader has had enough, as head does. Throws a UserError when it cannot. */
export function print(text: string): boolean {
  const code = writeNow(1, text);
  if (code === null) return true;
  if (code === "EPIPE") return false;
  throw new UserError(`Standard output could not be written (${code}).`, "Check where it goes, and the space there.");
}

/** Lets something be written to standard output, and tells whether it was. Where it cannot be, says why. */
export function tryToPrint(output: Output, write: () => boolean): boolean {
  try {
    return write();
  } catch (cause) {
    if (!(cause instanceof UserError)) throw cause;
    output.say(cause.sentence);
    return false;
  }
}

/**
 * Shows what can be shown this one time, such as `The key`. Where that fails it is lost, and must not stay behind: throws a
 * UserError with the command that revokes it.
 */
export function showOnce(output: Output, what: string, revoke: string, value: unknown, text: string): void {
  if (tryToPrint(output, () => output.result(value, text))) return;
  throw new UserError(`${what} was made but could not be shown.`, `Revoke it, ${revoke}, and make a new one.`);
}

/** Throws a UserError where nobody would see what is shown once, such as `the key`. */
export function refuseUnseen(what: string): void {
  if (!leadsNowhere()) return;
  throw new UserError(`Nobody would see ${what}: standard output leads nowhere.`, "Send it to a terminal or a file.");
}

/** Bun opens /dev/null in the place of a standard output that is closed. */
function leadsNowhere(): boolean {
  try {
    const output = fstatSync(1);
    return output.isCharacterDevice() && output.rdev === statSync("/dev/null").rdev;
  } catch {
    return true;
  }
}
