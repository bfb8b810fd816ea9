/** What a command says: the result on standard output, and messages for a person on standard error. */
import { fstatSync, statSync } from "node:fs";
import { styleText } from "node:util";
import { writeNow } from "../../process.ts";
import { inEscapes, UserError } from "../../user-error.ts";

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

/** Prints JSON texts one per line, or as one array. False when the reader has had enough. */
export function printLines(texts: Iterable<string>, asArray: boolean): boolean {
  let count = 0;
  for (const text of texts) {
    const begin = count++ > 0 ? "," : "[";
    if (!print(`${asArray ? begin : ""}${forTerminal(text)}\n`)) return false;
  }
  return !asArray || print(count === 0 ? "[]\n" : "]\n");
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

/** Bun opens /dev/null in the place of a standard output that is closed. */
function isDiscarded(): boolean {
  try {
    const output = fstatSync(1);
    return output.isCharacterDevice() && output.rdev === statSync("/dev/null").rdev;
  } catch {
    return true;
  }
}

type Style = "bold" | "green" | "red" | "yellow";

/** A text in a style, where the stream is a terminal. */
export function paint(style: Style, text: string, stream: NodeJS.WriteStream = process.stdout): string {
  // styleText itself obeys NO_COLOR.
  return stream.isTTY ? styleText(style, text, { stream }) : text;
}

const styleOfWord: Readonly<Record<string, Style>> = {
  active: "green",
  inactive: "red",
  revoked: "red",
  warning: "yellow",
  broken: "red",
};

/** A cell of a table. A word for a state has a colour. */
export function paintCell(text: string): string {
  const style = styleOfWord[text.trim()];
  return style === undefined ? text : paint(style, text);
}
