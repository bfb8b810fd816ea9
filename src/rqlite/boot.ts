/** An existing file becomes the first node of a cluster: its pages are taken as they are, and nothing is lost. */
import type { RqliteNode } from "./node.ts";

/** Hands a file to a node that is alone and empty. Throws with what the node said where it does not take it. */
export async function bootNode({ url, authorization }: RqliteNode, file: string): Promise<void> {
  const headers: Record<string, string> = { "Content-Type": "application/octet-stream" };
  if (authorization !== null) headers["Authorization"] = authorization;
  const answer = await fetch(`${url}/boot`, { method: "POST", headers, body: Bun.file(file).stream() });
  const said = (await answer.text()).trim();
  if (answer.status !== 200) throw new Error(said === "" ? `the node answered ${answer.status}` : said);
}
