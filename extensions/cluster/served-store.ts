/**
 * The store of a server next to an rqlite node. Requests read the node's file under a lease. Only usage counts and the ledger
 * of what was sent are sent to the cluster.
 */
import { sql } from "drizzle-orm";
import { version } from "../../package.json";
import type { StoreGauge } from "../../src/api/request-store.ts";
import { randomText } from "../../src/contract/key.ts";
import { DatabaseUnavailable, type Statement } from "../../src/db/connection.ts";
import { innermost, lastCountsLost } from "../../src/db/failure.ts";
import { applyRetention, isRetentionDue } from "../../src/privacy/retention.ts";
import { startStatements, stopStatement } from "../../src/privacy/sent/gaps.ts";
import { createOutbox } from "../../src/privacy/sent/outbox.ts";
import { UserError } from "../../src/runtime/user-error.ts";
import { askHealth } from "../../src/server/health.ts";
import type { ServedStore } from "../../src/server/store.ts";
import { type ClusterDatabase, openClusterDatabase } from "./database.ts";
import { createFlush } from "./flush.ts";
import { isTimeKnown, type Lease } from "./lease/lease.ts";
import { openLeasedFile } from "./lease/leased-file.ts";
import { checkLocalNode } from "./members.ts";
import { query, type RqliteNode } from "./node.ts";
import { openNodeFile, type Serving } from "./node-file.ts";
import { createTables, listServers } from "./transactions.ts";

/** Opens the store of the server of a node. `keepsLedger` is true if the leads that it sends are recorded. */
export function openClusterStore(path: string, node: RqliteNode, keepsLedger: boolean): ServedStore {
  const file = openNodeFile(path);
  const database = openClusterDatabase(file, node);
  const process = randomText(16);
  const { lease, now, version: versionOfFile, reading: readingFile, end } = openLeasedFile(file, node, process);
  const serving = () => file.current().serving();
  const outbox = createOutbox({ between: (...asked) => serving().usage.between(...asked) });
  const flush = createFlush(node.name, outbox, database, now);
  const reading = <Asked extends unknown[], Answer>(readOf: (serving: Serving) => (...asked: Asked) => Answer) =>
    readingFile((opening, ...asked: Asked) => readOf(opening.serving())(...asked));
  let isClosed = false;
  return {
    version: versionOfFile,
    now,
    keys: { find: reading(({ reader }) => reader.keys.find) },
    pixels: { list: reading(({ reader }) => reader.pixels.list), has: reading(({ reader }) => reader.pixels.has) },
    leads: { page: reading(({ reader }) => reader.leads.page) },
    usage: { count: outbox.count, of: reading(() => flush.of) },
    sent: keepsLedger ? outbox : { note: () => undefined },
    gauges: gaugesOf(lease),
    probe() {
      versionOfFile();
      return serving().reader.probe();
    },
    sizes: (nowMs) => serving().reader.sizes(nowMs),
    // The following `fsync` sends what is pending.
    flush: () => "done",
    fsync: flush.send,
    async applyRetention() {
      await untilValid(lease, () => isClosed);
      if (!isRetentionDue(database.read, now())) return { erased: 0, waiting: [] };
      return await applyRetention(database, now());
    },
    async listening(url) {
      // The records of the start need the time of the majority.
      const isTimeRight = () => isTimeKnown(lease.answers());
      await register(database, url, { isTimeRight, isOver: () => isClosed }, async () => {
        const registration = registrationOf(node.name, process, url, now());
        const started = startStatements(keepsLedger, now(), node.name);
        await database.write([registration, ...started, endOfUpgrade(now())]);
        flush.begin();
      });
    },
    async close() {
      isClosed = true;
      end();
      try {
        await flush.finish().catch((cause) => {
          throw lastCountsLost(innermost(cause));
        });
        // A server that was never registered must not end the gap of the previous server.
        if (flush.isBegun()) await database.write([stopStatement(keepsLedger, now(), node.name)]);
      } finally {
        file.release();
      }
    },
  };
}

/** The time after which the daily work is tried again later. */
const maxWaitMs = 60_000;

/** Waits for a lease. Without a lease, a server knows neither the time nor the stored leads, and must not erase anything. */
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
    gauge("lag_transactions", "Transactions that the local node has not applied yet.", lease.lag),
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
  return sql`INSERT OR REPLACE INTO cluster_nodes (name, url, version, process, started_at, leaving)
    VALUES (${name}, ${url}, ${version}, ${process}, ${nowMs}, 0)`;
}

/**
 * Returns the statement that ends the gap `upgrade` once no server of an earlier version, which kept another record, is registered.
 */
function endOfUpgrade(nowMs: number): Statement {
  return sql`UPDATE ledger_gaps SET ends_at = max(${nowMs}, begins_at) WHERE reason = 'upgrade' AND ends_at IS NULL
    AND NOT EXISTS (SELECT 1 FROM cluster_nodes WHERE version <> ${version})`;
}

/**
 * Registers a server in its cluster, and tries until it is registered or stops. Before that it gets no lease. `cluster status`
 * asks it at the URL that it has registered. Throws a UserError if another server answers for this node, or if the node has
 * another name or another file: a command would wait for the wrong node.
 */
async function register(
  database: ClusterDatabase,
  url: string,
  { isTimeRight, isOver }: { readonly isTimeRight: () => boolean; readonly isOver: () => boolean },
  write: () => Promise<void>,
): Promise<void> {
  const { node } = database;
  for (; !isOver(); await Bun.sleep(1_000)) {
    await checkLocalNode(node, database.path);
    try {
      // Before `cluster init`, this throws NoAnswer: the node must remain empty.
      await query(node, sql`SELECT 1 FROM __drizzle_migrations LIMIT 1`, "none", 1_000);
      // This server may be started before `cluster migrate`.
      await createTables(node);
      for (; !isTimeRight(); await Bun.sleep(20)) if (isOver()) return;
      const registered = listServers(database.read).find(({ name }) => name === node.name)?.url ?? url;
      if (registered === url || (await askHealth(registered)) === "nobody") return await write();
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
