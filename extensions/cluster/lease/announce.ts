/**
 * Registers a server in its cluster when it starts. Before that it gets no lease, because no command would wait for it. At
 * most one process is registered for a node. `cluster status` asks it at the URL that it has registered.
 */
import { eq, sql } from "drizzle-orm";
import { version } from "../../../package.json";
import { randomText } from "../../../src/contract/key.ts";
import { publicPaths } from "../../../src/contract/paths.ts";
import { UserError } from "../../../src/user-error.ts";
import type { LocalFile } from "../local-file.ts";
import { checkLocalNode } from "../node/local-node.ts";
import type { RqliteNode } from "../node/node.ts";
import { statementOf } from "../node/statement.ts";
import { nodes } from "../tables.ts";
import { sendTransaction } from "../transaction.ts";

const timeoutMs = 2_000;
const retryMs = 1_000;

interface Server {
  readonly name: string;
  readonly process: string;
  readonly url: string;
}

/**
 * Tries until the server is registered or stops. Throws a UserError if another server answers for this node, or if the node
 * has another name or another file: a command would wait for the wrong node.
 */
export async function announce(
  node: RqliteNode,
  file: Pick<LocalFile, "path" | "current">,
  { name, process, url }: Server,
  isOver: () => boolean,
): Promise<void> {
  const own = sql`VALUES (${name}, ${url}, ${version}, ${process}, ${Date.now()}, 0)`;
  const statement = statementOf(
    sql`INSERT INTO ${nodes} (name, url, version, process, started_at, leaving) ${own} ON CONFLICT (name) DO UPDATE SET
        url = excluded.url, version = excluded.version, process = excluded.process, started_at = excluded.started_at,
        leaving = 0`,
  );
  while (!isOver()) {
    await checkLocalNode(node, name, file.path);
    await refuseSecond(file, name, url);
    try {
      return await sendTransaction(node, randomText(20), [statement], timeoutMs);
    } catch {
      await Bun.sleep(retryMs);
    }
  }
}

/** Each of two servers would grant the rate limit. */
async function refuseSecond(file: Pick<LocalFile, "current">, name: string, ownUrl: string): Promise<void> {
  const registered = registeredUrl(file, name);
  if (registered === null || registered === ownUrl || !(await isServing(registered))) return;
  throw new UserError(
    `Another server, ${registered}, already serves the node ${name}.`,
    "Stop it first, or give this server a node of its own.",
  );
}

function registeredUrl(file: Pick<LocalFile, "current">, name: string): string | null {
  try {
    return file.current().select({ url: nodes.url }).from(nodes).where(eq(nodes.name, name)).get()?.url ?? null;
  } catch {
    return null;
  }
}

async function isServing(url: string): Promise<boolean> {
  try {
    const request = { signal: AbortSignal.timeout(timeoutMs), tls: { rejectUnauthorized: false } };
    const { status } = await fetch(`${url}${publicPaths.health}`, request);
    return status === 200 || status === 503;
  } catch {
    return false;
  }
}
