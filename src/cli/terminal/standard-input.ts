/** Standard input, for secrets: an argument is seen by other users, and stays in the history of the shell. */

/** All of it as text. */
export async function readAll(input: AsyncIterable<Uint8Array>): Promise<string> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of input) chunks.push(chunk);
  return Buffer.concat(chunks).toString("utf8");
}

/** The first line, as soon as it is there. */
export async function readFirstLine(input: AsyncIterable<Uint8Array>): Promise<string> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of input) {
    chunks.push(chunk);
    if (chunk.includes(10)) break;
  }
  return Buffer.concat(chunks).toString("utf8").split("\n", 1)[0] ?? "";
}
