/** Questions to a person at a terminal, and what standard input gives. */
import { openSync } from "node:fs";
import { createInterface } from "node:readline";
import { ReadStream } from "node:tty";
import { UserError } from "../../user-error.ts";

/**
 * Returns when the command may go on; throws a UserError when the answer is no. A script is not asked: whoever wrote it
 * knew what it does.
 */
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

/** Asks a person at a terminal, and gives the answer. */
export async function ask(question: string): Promise<string> {
  process.stderr.write(question);
  return (await readLine()).trim();
}

/** Whether a person can see the question and answer it. */
export function canAsk(): boolean {
  return process.stdin.isTTY && process.stderr.isTTY;
}

/** One line of the terminal; nothing where it ends. */
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

/** The terminal itself: standard input may have been read to its end, where a person was typed. */
function openTerminal(): ReadStream {
  try {
    return new ReadStream(openSync("/dev/tty", "r"));
  } catch {
    return process.stdin;
  }
}

/** Says at a terminal that the command waits, and for what, such as `the key`: nothing else would show it. */
export function sayThatItWaits(what: string, keys = "Enter and Ctrl-D"): void {
  if (canAsk()) process.stderr.write(`Waiting for ${what}: type or paste it, then press ${keys}.\n`);
}

/** All of it as text. */
export async function readAll(input: AsyncIterable<Uint8Array>, what: string): Promise<string> {
  sayThatItWaits(what);
  const chunks: Uint8Array[] = [];
  for await (const chunk of input) chunks.push(chunk);
  return Buffer.concat(chunks).toString("utf8");
}
