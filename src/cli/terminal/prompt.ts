/** Questions to a person at a terminal, and reading standard input. */
import { openSync } from "node:fs";
import { createInterface } from "node:readline";
import { ReadStream } from "node:tty";
import { printMessage, wrapped } from "../../process.ts";
import { UserError } from "../../user-error.ts";

/** Asks at a terminal whether to go on; throws a UserError if the answer is no. A script is not asked. */
export async function confirm(
  question: string,
  { yes }: { readonly yes?: boolean },
  advice = "Answer y to go on; --yes does not ask.",
): Promise<void> {
  if (yes === true || !canAsk()) return;
  const answer = await ask(`${question} [y/N] `);
  if (/^y(?:es)?$/i.test(answer)) return;
  throw new UserError("Nothing was changed.", advice);
}

/** Asks a person at a terminal, and returns the answer. */
export async function ask(question: string): Promise<string> {
  process.stderr.write(`${wrapped(question.trimEnd(), process.stderr)} `);
  return (await readLine()).trim();
}

/** Returns whether a person can see a question and answer it. */
export function canAsk(): boolean {
  return process.stdin.isTTY && process.stderr.isTTY;
}

/** Reads a line from the terminal; empty at its end. */
function readLine(): Promise<string> {
  const terminal = openTerminal();
  // Not in raw mode, so that Ctrl-C stays what it is.
  const lines = createInterface({ input: terminal, terminal: false });
  return new Promise((resolve) => {
    lines.once("line", (line) => {
      resolve(line);
      lines.close();
    });
    lines.once("close", () => {
      resolve("");
      terminal.destroy();
    });
  });
}

/** Opens the terminal itself, because standard input may already have been read to its end. */
function openTerminal(): ReadStream {
  try {
    return new ReadStream(openSync("/dev/tty", "r"));
  } catch {
    return process.stdin;
  }
}

/** Says at a terminal what the command waits for, such as `the key`. */
export function sayThatItWaits(what: string, keys = "Enter and Ctrl-D"): void {
  if (canAsk()) printMessage(`Waiting for ${what}: type or paste it, then press ${keys}.`);
}

/** Reads all of an input as text. */
export async function readAll(input: AsyncIterable<Uint8Array>, what: string): Promise<string> {
  sayThatItWaits(what);
  const chunks: Uint8Array[] = [];
  for await (const chunk of input) chunks.push(chunk);
  return Buffer.concat(chunks).toString("utf8");
}
