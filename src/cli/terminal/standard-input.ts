/** What must not be an argument, where other users and the shell's history would see it, comes by standard input. */

/** All of it as text. */
export async function readAll(input: AsyncIterable<Uint8Array>): Promise<string> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of input) chunks.push(chunk);
  return Buffer.concat(chunks).toString("utf8");
}
