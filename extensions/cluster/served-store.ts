/**
 * The store of a server next to an rqlite node. Requests read the node's file under a lease. Only usage counts and the ledger
 * of what was sent are sent to the cluster.
 */
import { eq, sql } from "drizzle-orm";
import { version } from "../../package.json";
import type { StoreGauge } from "../../src/api/request-store.ts";
import { randomText } from "../../src/contract/key.ts";
import { publicPaths } from "../../src/contract/paths.ts";
import { DatabaseUnavailable, type Statement } from "../../src/db/connection.ts";
import { innermost, lastCountsLost } from "../../src/db/failure.ts";
import { applyRetention, isRetentionDue } from "../../src/privacy/retention.ts";
import { createOutbox } from "../../src/privacy/sent/outbox.ts";
import { UserError } from "../../src/runtime/user-error.ts";
import type { ServedStore } from "../../src/server/store.ts";
import { type ClusterDatabase, openClusterDatabase } from "./database.ts";
import type { Lease } from "./lease/lease.ts";
import { openLeasedFile } from "./lease/leased-file.ts";
import { checkLocalNode } from "./members.ts";
import { query, type RqliteNode } from "./node.ts";
import { openNodeFile, type Serving } from "./node-file.ts";
import { openNodeLedger } from "./node-ledger.ts";
import { nodes } from "./tables.ts";
import { createTables } from "./transaction.ts";
import { createFlush } from "./usage-flush.ts";

/** Opens the store of a server next to a node. `keepsLedger` is whether what is sent is recorded. */
export function openClusterStore(path: string, node: RqliteNode, keepsLedger: boolean): ServedStore {
  const file = openNodeFile(path);
  const database = openClusterDatabase(file, node);
  const process = randomText(16);
  const leased = openLeasedFile(file, node, process);
  const serving = () => file.current().serving();
  const outbox = createOutbox({ between: (...asked) => serving().usage.between(...asked) });
  const ledger = openNodeLedger(node.name, keepsLedger, () => file.current().connection, leased.now);
  const flush = createFlush(node.name, { outbox, ledger }, database, leased.now);
  const reading = <Asked extends unknown[], Answer>(readOf: (serving: Serving) => (...asked: Asked) => Answer) =>
    leased.reading((opening, ...asked: Asked) => readOf(opening.serving())(...asked));
  let isClosed = false;
  return {
    version: leased.version,
    now: leased.now,
    keys: { find: reading(({ reader }) => reader.keys.find) },
    pixels: { list: reading(({ reader }) => reader.pixels.list), has: reading(({ reader }) => reader.pixels.has) },
    leads: { page: reading(({ reader }) => reader.leads.page) },
    usage: { count: outbox.count, of: reading(() => flush.of) },
    sent: keepsLedger ? outbox : { note: () => undefined },
    gauges: gaugesOf(leased.lease),
    probe() {
      leased.version();
      return serving().reader.probe();
    },
    sizes: (nowMs) => serving().reader.sizes(nowMs),
    flush() {
      flush.begin();
      return "done";
    },
    fsync: flush.fsync,
    async applyRetention() {
      await untilValid(leased.lease, () => isClosed);
      const nowMs = leased.now();
      if (!isRetentionDue(file.current().connection, nowMs)) return { erased: 0, waiting: [] };
      return await applyRetention(database, nowMs);
    },
    async listening(url) {
      const statements = () => [registrationOf(node.name, process, url, leased.now()), ...ledger.startStatements()];
      // What is recorded at the start has the time of the majority.
      const isAnswered = () => leased.lease.answers().voters > 0;
      await register(database, url, statements, { isAnswered, isOver: () => isClosed });
      ledger.begin();
    },
    async close() {
      isClosed = true;
      leased.end();
      try {
        await flush.finish().catch((cause) => {
          throw lastCountsLost(innermost(cause));
        });
        await database.write([ledger.stopStatement()]);
      } finally {
        file.release();
      }
    },
  };
}

/** The time after which the daily work is tried again later. */
const maxWaitMs = 60_000;

/** Waits for a lease. Without one, a server knows neither the time nor what is stored, and must not erase anything. */
async function untilValid(lease: Lease, isOver: () => boolean): Promise<void> {
  for (const endMs = performance.now() + maxWaitMs; !lease.isValid(); await Bun.sleep(100)) {
    if (isOver() || performance.now() > endMs) throw new DatabaseUnavailable(lease.refusal(), "");
  }
}

/** The metrics of the lease, for the alert rules in deploy/cluster/prometheus-alerts.yml. */
function gaugesOf({ answers, ageSeconds, ...lease }: Lease): StoreGauge[] {
  const gauge = (name: string, help: string, read: () => number | null): StoreGauge => {
    return { name: `leadfile_cluster_${name}`, help, read };
  };
  return [
    gauge("lease_age_seconds", "Time since the answers on which the lease is based; it ends after 4 s.", ageSeconds),
    gauge("serving", "1 while this server has a lease.", () => Number(lease.isValid())),
    gauge("lag_transactions", "Transactions that the local node has not applied yet.", () => answers().lag),
    gauge("missing_writes", "1 if the local node lacks writes that a majority has.", () => Number(lease.lacksWrites())),
    gauge("leader", "1 if the local node is the leader.", () => Number(answers().isLeader)),
    gauge("members", "Nodes with a vote.", () => answers().voters),
    gauge("reachable_members", "Nodes with a vote that answered the last question.", () => {
      return answers().others.length + Number(answers().isVoter);
    }),
    gauge("clock_off_seconds", "How far the clock is behind that of the majority.", () => answers().clockOffMs / 1_000),
  ];
}

/** Registers a server, so that commands wait for it. At most one process is registered for a node. */
function registrationOf(name: string, process: string, url: string, nowMs: number): Statement {
  return sql`INSERT OR REPLACE INTO ${nodes} (name, url, version, process, started_at, leaving)
    VALUES (${name}, ${url}, ${version}, ${process}, ${nowMs}, 0)`;
}

/**
 * Registers a server in its cluster, and tries until it is registered or stops. Before that it gets no lease. `cluster status`
 * asks it at the URL that it has registered. Throws a UserError if another server answers for this node, or if the node has
 * another name or another file: a command would wait for the wrong node.
 */
async function register(
  { node, file, write }: ClusterDatabase,
  url: string,
  statements: () => readonly Statement[],
  { isAnswered, isOver }: { readonly isAnswered: () => boolean; readonly isOver: () => boolean },
): Promise<void> {
  for (; !isOver(); await Bun.sleep(1_000)) {
    await checkLocalNode(node, file.path);
    try {
      // Before `cluster init`, this throws NoAnswer: the node must remain empty.
      await query(node, sql`SELECT 1 FROM __drizzle_migrations LIMIT 1`, "none", 1_000);
      // This server may be started before `cluster migrate`.
      await createTables(node);
      for (; !isAnswered(); await Bun.sleep(20)) if (isOver()) return;
      const own = eq(nodes.name, node.name);
      const registered = file.current().connection.select({ url: nodes.url }).from(nodes).where(own).get()?.url ?? url;
      if (registered === url || (await healthOf(registered)) === null) return await write(statements());
      // Each of two servers would grant the rate limit.
      throw new UserError(
        `Another server, ${registered}, already serves the node ${node.name}.`,
        "Stop it first, or set CLUSTER and NODE_NAME of this server to another node.",
      );
    } catch (cause) {
      // rqlite is starting, or has no leader.
      if (!(cause instanceof DatabaseUnavailable)) throw cause;
    }
  }
}

/** Asks a server whether it serves; null if no server of Leadfile answers at the URL. */
export async function healthOf(url: string): Promise<boolean | null> {
  try {
    const options = { signal: AbortSignal.timeout(2_000), tls: { rejectUnauthorized: false } };
    const { status } = await fetch(`${url}${publicPaths.health}`, options);
    return status === 200 ? true : status === 503 ? false : null;
  } catch {
    return null; // Nothing answers there, or another program does.
  }
}
