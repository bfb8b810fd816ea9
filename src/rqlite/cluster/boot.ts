/** An existing file becomes the first node of a cluster: its pages are taken as they are, and nothing is lost. */
import { sql } from "drizzle-orm";
import { ask, questionRequest, type RqliteNode, readNumber } from "../node/node.ts";
import { statementOf } from "../node/statement.ts";

const timeoutMs = 5_000;
const tables = statementOf(sql`SELECT count(*) FROM sqlite_schema`);

/** Hands a file, with no log beside it, to a node that is alone and empty. Throws where the node does not take it. */
export async function bootNode(node: RqliteNode, file: string): Promise<void> {
  await hand(node, file);
  if ((await countTables(node)) === 0) throw new Error("the node has nothing of the file");
}

async function hand({ url, authorization }: RqliteNode, file: string): Promise<void> {
  const headers: Record<string, string> = { "Content-Type": "application/octet-stream" };
  if (authorization !== null) headers["Authorization"] = authorization;
  const answer = await fetch(`${url}/boot`, { method: "POST", headers, body: Bun.file(file) });
  const said = (await answer.text()).trim();
  if (answer.status !== 200) throw new Error(said === "" ? `the node answered ${answer.status}` : said);
}

/** How many tables and indexes a node has. */
export async function countTables(node: RqliteNode): Promise<number> {
  return readNumber(await ask(questionRequest(node, tables, "linearizable", timeoutMs)));
}
