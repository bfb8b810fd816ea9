/** The output of a command: the result on standard output, and messages for a person on standard error. */
import { fstatSync, type Stats, statSync } from "node:fs";
import { styleText } from "node:util";
import { orElse } from "../../db/failure.ts";
import { printMessage, wrapped, writeNow } from "../../runtime/process.ts";
import { inEscapes, UserError } from "../../runtime/user-error.ts";

/** The output of a command. Nothing but the result goes to standard output. */
export interface Output {
  /** Standard output is one JSON value and nothing else. */
  readonly json: boolean;
  /** Prints the result: a value for programs, or its text for people. Returns false if its reader has closed the pipe. */
  result(value: unknown, text: string): boolean;
  /** Prints a message, a warning, or progress. */
  say(text: string): void;
}

/** Makes the output of a command: results on standard output, as JSON if asked for, and messages on standard error. */
export function createOutput(json: boolean): Output {
  return {
    json,
    result(value, text) {
      const said = json ? forTerminal(JSON.stringify(value)) : wrapped(text, process.stdout);
      return said === "" || print(`${said}\n`);
    },
    say(text) {
      if (text !== "") printMessage(text);
    },
  };
}

/** Escapes control characters in JSON for a terminal. Programs get it unchanged. */
export function forTerminal(json: string): string {
  return process.stdout.isTTY ? inEscapes(json) : json;
}

/** Writes to standard output. Returns false if the reader has closed the pipe, as head does. Throws a UserError if it fails. */
export function print(text: string): boolean {
  const code = writeNow(1, text);
  if (code === null) return true;
  if (code === "EPIPE") return false;
  throw new UserError(
    `Standard output could not be written (${code}).`,
    "Check the file or pipe that it goes to, and the free space there.",
  );
}

/** Prints JSON texts one per line, or as one array. Returns false if the reader has closed the pipe. */
export function printLines(texts: Iterable<string>, asArray: boolean): boolean {
  let count = 0;
  for (const text of texts) {
    const begin = count++ > 0 ? "," : "[";
    if (!print(`${asArray ? begin : ""}${forTerminal(text)}\n`)) return false;
  }
  return !asArray || print(count === 0 ? "[]\n" : "]\n");
}

/** Calls a function that writes to standard output, and returns whether it could. If not, prints the reason. */
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
 * Shows a secret, such as a `key`, which cannot be shown again. If that fails, it must not stay: throws a UserError with the
 * command that revokes it.
 */
export function showOnce(output: Output, what: string, revoke: string, value: unknown, text: string): void {
  if (tryToPrint(output, () => output.result(value, text))) return;
  throw new UserError(
    `The ${what} was created but could not be shown.`,
    `Revoke it: ${revoke}. Then create a new one.`,
  );
}

/** Throws a UserError if nobody would see a secret, such as a `key`, that is shown only once. */
export function refuseUnseen(what: string): void {
  if (!isDiscarded()) return;
  throw new UserError(
    `Standard output is closed, so the ${what} could not be shown. No ${what} was created.`,
    "Run the command again with its output sent to a terminal or a file.",
  );
}

/** Bun opens /dev/null if standard output is closed. */
function isDiscarded(): boolean {
  const isNull = (output: Stats) => output.isCharacterDevice() && output.rdev === statSync("/dev/null").rdev;
  return orElse(() => isNull(fstatSync(1)), true);
}

type Style = "bold" | "green" | "red" | "yellow";

/** Returns a text in a style if standard output is a terminal with colors. */
export function paint(style: Style, text: string): string {
  // styleText obeys NO_COLOR and TERM. FORCE_COLOR must not color what a program reads.
  return process.stdout.isTTY ? styleText(style, text, { stream: process.stdout }) : text;
}

const styleOfWord: Readonly<Record<string, Style>> = {
  active: "green",
  inactive: "red",
  revoked: "red",
  warning: "yellow",
  broken: "red",
};

/** Returns a cell of a table. A word for a state has a color. */
export function paintCell(text: string): string {
  const style = styleOfWord[text.trim()];
  return style === undefined ? text : paint(style, text);
}
