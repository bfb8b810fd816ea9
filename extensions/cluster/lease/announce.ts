/**
 * A server tells its cluster of itself when it starts. Before that it gets no lease, because no command would wait for it.
 * `cluster status` asks it at the address that it tells.
 */
import { sql } from "drizzle-orm";
import { version } from "../../../package.json";
import { nodes } from "../../../src/db/schema.ts";
import { checkBeside } from "../node/beside.ts";
import { ask, type RqliteNode, readWritten, writeRequest } from "../node/node.ts";
import { statementOf } from "../node/statement.ts";

const timeoutMs = 2_000;
const againMs = 1_000;

interface Server {
  readonly name: string;
  readonly url: string;
  /** The file that it reads. */
  readonly path: string;
}

/**
 * Tries until it is written, or until the server stops. Throws a StoreError where the node has another name or another
 * file: a command would wait for that node, and not for the one whose file is served.
 */
export async function announce(node: RqliteNode, { name, url, path }: Server, isOver: () => boolean): Promise<void> {
  const own = sql`VALUES (${name}, ${url}, ${version}, ${Date.now()}, 0)`;
  const statement = statementOf(
    sql`INSERT INTO ${nodes} (name, url, version, started_at, leaving) ${own} ON CONFLICT (name)
        DO UPDATE SET url = excluded.url, version = excluded.version, started_at = excluded.started_at, leaving = 0`,
  );
  while (!isOver()) {
    await checkBeside(node, name, path);
    const written = readWritten(await ask(writeRequest(node, [statement], timeoutMs)));
    if (written.kind === "done") return;
    await Bun.sleep(againMs);
  }
}
