/** What must not be an argument, where other users and the shell's history would see it, comes by standard input. */

/** All of it as text. */
export async function readAll(input: AsyncIterable<Uint8Array>): Promise<string> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of input) chunks.push(chunk);
  return Buffer.concat(chunks).toString("utf8");
}

/** Up to the end of the first line, without waiting for what comes behind it. */
export async function readFirstLine(input: AsyncIterable<Uint8Array>): Promise<string> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of input) {
    chunks.push(chunk);
    if (chunk.includes(10)) break;
  }
  return Buffer.concat(chunks).toString("utf8").split("\n", 1)[0] ?? "";
}
