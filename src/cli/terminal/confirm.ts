/** A question before what cannot be undone: asked where a person sits, and nowhere else. */
import { createInterface } from "node:readline";
import { UserError } from "../../operator/user-error.ts";

/**
 * Goes on when it may; throws a UserError when the answer is no. Only a terminal on both sides is asked: a script said
 * what it wants when it was written.
 */
export async function confirm(
  question: string,
  { yes }: { readonly yes?: boolean },
  advice = "Answer y to go on; --yes does not ask.",
): Promise<void> {
  if (yes === true || !canAsk()) return;
  process.stderr.write(`${question} [y/N] `);
  const answer = await readLine();
  if (/^y(?:es)?$/i.test(answer.trim())) return;
  throw new UserError("Nothing was changed.", advice);
}

/** Whether a person can see a question, and answer it. */
export function canAsk(): boolean {
  return process.stdin.isTTY && process.stderr.isTTY;
}

/** One line of standard input; nothing where it ends. */
function readLine(): Promise<string> {
  // Not in raw mode, so that Ctrl-C stays what it is.
  const lines = createInterface({ input: process.stdin, terminal: false });
  return new Promise((resolve) => {
    lines.once("line", (line) => {
      resolve(line);
      lines.close();
    });
    lines.once("close", () => resolve(""));
  });
}
