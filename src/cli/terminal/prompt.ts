/** Questions to a person at a terminal, and reading standard input. */
import { open } from "node:fs/promises";
import { printMessage, wrapped } from "../../runtime/process.ts";
import { UserError } from "../../runtime/user-error.ts";

/** Asks at a terminal whether to go on; throws a UserError if the answer is no. A script is not asked. */
export async function confirm(
  question: string,
  { yes }: { readonly yes?: boolean },
  advice = "Answer y to continue, or pass --yes.",
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

/**
 * Reads a line from the terminal; empty at its end. Opens the terminal itself, because standard input may already have been
 * read to its end. Windows has no such file.
 */
async function readLine(): Promise<string> {
  await using terminal = await open("/dev/tty").catch(() => null);
  if (terminal === null) return prompt("") ?? "";
  // Not in raw mode: the terminal gives a whole line, and Ctrl-C stays what it is.
  const { buffer, bytesRead } = await terminal.read(Buffer.alloc(4096));
  return buffer.toString("utf8", 0, bytesRead);
}

/** Says at a terminal what the command waits for, such as `the key`. */
export function sayThatItWaits(what: string, keys = "Enter and Ctrl-D"): void {
  if (canAsk()) printMessage(`Waiting for ${what}: type or paste it, then press ${keys}.`);
}

/** Reads all of an input as text. */
export async function readAll(input: AsyncIterable<Uint8Array>, what: string): Promise<string> {
  sayThatItWaits(what);
  return Buffer.concat(await Array.fromAsync(input)).toString("utf8");
}
