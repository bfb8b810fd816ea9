/** Standard input, for secrets: an argument is seen by other users, and stays in the history of the shell. */
import { canAsk } from "./confirm.ts";

/** Says at a terminal that the command waits: nothing else would show it. */
export function sayThatItWaits(): void {
  if (canAsk()) process.stderr.write("Waiting for standard input: type or paste it, then press Enter and Ctrl-D.\n");
}

/** All of it as text. */
export async function readAll(input: AsyncIterable<Uint8Array>): Promise<string> {
  sayThatItWaits();
  const chunks: Uint8Array[] = [];
  for await (const chunk of input) chunks.push(chunk);
  return Buffer.concat(chunks).toString("utf8");
}

/** The first line, as soon as it is there. */
export async function readFirstLine(input: AsyncIterable<Uint8Array>): Promise<string> {
  if (canAsk()) process.stderr.write("Waiting for standard input: paste it, then press Enter.\n");
  const chunks: Uint8Array[] = [];
  for await (const chunk of input) {
    chunks.push(chunk);
    if (chunk.includes(10)) break;
  }
  return Buffer.concat(chunks).toString("utf8").split("\n", 1)[0] ?? "";
}
