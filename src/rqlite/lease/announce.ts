/**
 * A server tells its cluster of itself at its start: it has no lease before, because nobody would wait for it, and `cluster status`
 * asks it where it listens.
 */
import { sql } from "drizzle-orm";
import { version } from "../../../package.json";
import { nodes } from "../../sqlite/schema.ts";
import { ask, type RqliteNode, readWritten, writeRequest } from "../node/node.ts";
import { statementOf } from "../node/statement.ts";

const timeoutMs = 2_000;
const againMs = 1_000;

/** Tries until it is written, or until the server stops. */
export async function announce(node: RqliteNode, name: string, url: string, isOver: () => boolean): Promise<void> {
  const own = sql`VALUES (${name}, ${url}, ${version}, ${Date.now()}, 0)`;
  const statement = statementOf(
    sql`INSERT INTO ${nodes} (name, url, version, started_at, leaving) ${own} ON CONFLICT (name)
        DO UPDATE SET url = excluded.url, version = excluded.version, started_at = excluded.started_at, leaving = 0`,
  );
  while (!isOver()) {
    const written = readWritten(await ask(writeRequest(node, [statement], timeoutMs)));
    if (written.kind === "done") return;
    await Bun.sleep(againMs);
  }
}
