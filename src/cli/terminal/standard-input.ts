/** Standard input, for secrets: an argument is seen by other users, and stays in the history of the shell. */
import { canAsk } from "./confirm.ts";

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
