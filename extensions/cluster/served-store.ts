/**
 * The store of a server next to an rqlite node. Requests read the node's file under a lease. Only usage counts and the record
 * of disclosures are sent to the cluster.
 */
import { eq, sql } from "drizzle-orm";
import { version } from "../../package.json";
import { randomText } from "../../src/contract/key.ts";
import { publicPaths } from "../../src/contract/paths.ts";
import { DatabaseUnavailable, type Statement } from "../../src/db/connection.ts";
import { innermost, lastCountsLost } from "../../src/db/failure.ts";
import type { StoreGauge } from "../../src/db/reader.ts";
import { createUsageCounter } from "../../src/db/usage.ts";
import { gapEndStatements, gapStatementsAtStart } from "../../src/privacy/disclosures/gaps.ts";
import { planPart } from "../../src/privacy/disclosures/ledger.ts";
import { createPendingPages } from "../../src/privacy/disclosures/pending-pages.ts";
import { applyRetention, isRetentionDue } from "../../src/privacy/retention.ts";
import type { ServedStore } from "../../src/served-store.ts";
import { UserError } from "../../src/user-error.ts";
import { openClusterDatabase } from "./database.ts";
import { openLeasedFile } from "./lease/leased-file.ts";
import { checkLocalNode } from "./members.ts";
import type { RqliteNode } from "./node.ts";
import { type NodeFile, openNodeFile, type Serving } from "./node-file.ts";
import { nodes, type Server } from "./tables.ts";
import { independentId, send } from "./transaction.ts";
import { createFlush } from "./usage-flush.ts";

/** Opens the store of a server next to a node, by its name. `keepsLedger` is whether disclosures are recorded. */
export function openClusterStore(path: string, node: RqliteNode, name: string, keepsLedger: boolean): ServedStore {
  const file = openNodeFile(path);
  const server = { name, process: randomText(16) };
  const leased = openLeasedFile(file, node, server);
  const serving = () => file.current().serving();
  const usage = createUsageCounter({ between: (...asked) => serving().usage.between(...asked) });
  const ledger = createPendingPages((pages) => planPart(file.current().connection, pages));
  const flush = createFlush(node, name, { usage, ledger }, (id) => file.current().chainOf(id) !== undefined);
  const reading = <Asked extends unknown[], Answer>(readOf: (serving: Serving) => (...asked: Asked) => Answer) =>
    leased.reading((opening, ...asked: Asked) => readOf(opening.serving())(...asked));
  let isClosed = false;
  return {
    version: leased.version,
    keys: { find: reading(({ reader }) => reader.keys.find) },
    pixels: { list: reading(({ reader }) => reader.pixels.list), has: reading(({ reader }) => reader.pixels.has) },
    leads: { page: reading(({ reader }) => reader.leads.page) },
    usage: { count: usage.count, of: reading(() => flush.of) },
    disclosures: { note: keepsLedger ? ledger.note : () => undefined },
    gauges: gaugesOf(leased),
    probe() {
      leased.version();
      return serving().reader.probe();
    },
    sizes: () => serving().reader.sizes(),
    flush() {
      flush.begin();
      return "done";
    },
    settle: flush.settle,
    async applyRetention(nowMs, hasJumped) {
      if (!isRetentionDue(file.current().connection, nowMs)) return { erased: 0, waitsUntilMs: null };
      return await applyRetention(openClusterDatabase(file, node), nowMs, hasJumped);
    },
    listening: (url) => register(node, file, { ...server, url, keepsLedger }, () => isClosed),
    async close() {
      isClosed = true;
      leased.end();
      try {
        await flushLast(flush);
        const ends = keepsLedger ? [] : gapEndStatements(Date.now(), name);
        if (ends.length > 0) await send(node, independentId(), ends);
      } finally {
        file.release();
      }
    },
  };
}

/** Sends what is left, again if that fails: a cluster may be without a leader for a second or two. */
async function flushLast({ begin, settle }: ReturnType<typeof createFlush>): Promise<void> {
  for (const endMs = performance.now() + 5_000; ; await Bun.sleep(100)) {
    // What was being sent may have begun before the last request.
    await settle().catch(() => {});
    begin(true);
    try {
      return await settle();
    } catch (cause) {
      if (performance.now() > endMs) throw lastCountsLost(innermost(cause));
    }
  }
}

/** The metrics of the lease, for the alert rules in deploy/cluster/prometheus-alerts.yml. */
function gaugesOf({ lease, answers }: ReturnType<typeof openLeasedFile>): StoreGauge[] {
  const gauge = (name: string, help: string, read: () => number | null): StoreGauge => {
    return { name: `leadfile_cluster_${name}`, help, read };
  };
  return [
    gauge("lease_age_seconds", "Time since the answers on which the lease is based; it ends after 4 s.", () => {
      const ageMs = lease.ageMs();
      return ageMs === null ? null : ageMs / 1_000;
    }),
    gauge("serving", "1 while this server has a lease.", () => Number(lease.isValid())),
    gauge("lag_transactions", "Transactions that the local node has not applied yet.", () => answers()?.lag ?? 0),
    gauge("missing_writes", "1 if the local node lacks writes that a majority has.", () => Number(lease.lacksWrites())),
    gauge("leader", "1 if the local node is the leader.", () => Number(answers()?.isLeader ?? false)),
    gauge("members", "Nodes with a vote.", () => answers()?.voters ?? 0),
    gauge("reachable_members", "Nodes with a vote that answered the last question.", () => {
      const last = answers();
      return last === null ? 0 : last.others.length + Number(last.isVoter);
    }),
    gauge("clock_off_seconds", "How far the clock is behind that of the majority.", () => {
      return (answers()?.clockOffMs ?? 0) / 1_000;
    }),
  ];
}

interface Registration extends Server {
  readonly url: string;
  readonly keepsLedger: boolean;
}

/**
 * Registers a server in its cluster, and tries until it is registered or stops. Before that it gets no lease, because no
 * command would wait for it. At most one process is registered for a node. `cluster status` asks it at the URL that it has
 * registered. Throws a UserError if another server answers for this node, or if the node has another name or another file: a
 * command would wait for the wrong node.
 */
async function register(
  node: RqliteNode,
  file: NodeFile,
  { name, process, url, keepsLedger }: Registration,
  isOver: () => boolean,
): Promise<void> {
  const nowMs = Date.now();
  const statements: Statement[] = [
    sql`INSERT INTO ${nodes} (name, url, version, process, started_at, leaving)
        VALUES (${name}, ${url}, ${version}, ${process}, ${nowMs}, 0) ON CONFLICT (name) DO UPDATE SET
        url = excluded.url, version = excluded.version, process = excluded.process, started_at = excluded.started_at,
        leaving = 0`,
    ...gapStatementsAtStart(keepsLedger, nowMs, name),
  ];
  for (; !isOver(); await Bun.sleep(1_000)) {
    await checkLocalNode(node, name, file.path);
    try {
      const registered = file.current().connection.select({ url: nodes.url }).from(nodes).where(eq(nodes.name, name));
      await refuseSecond(registered.get()?.url, name, url);
      return await send(node, independentId(), statements);
    } catch (cause) {
      // rqlite is starting, or has no leader.
      if (!(cause instanceof DatabaseUnavailable)) throw cause;
    }
  }
}

/** Each of two servers would grant the rate limit. */
async function refuseSecond(registered: string | undefined, name: string, ownUrl: string): Promise<void> {
  if (registered === undefined || registered === ownUrl || (await healthOf(registered)) === null) return;
  throw new UserError(
    `Another server, ${registered}, already serves the node ${name}.`,
    "Stop it first, or set CLUSTER and NODE_NAME of this server to another node.",
  );
}

/** Asks a server whether it serves; null if no server of Leadfile answers at the URL. */
export async function healthOf(url: string): Promise<boolean | null> {
  try {
    const options = { signal: AbortSignal.timeout(2_000), tls: { rejectUnauthorized: false } };
    const { status } = await fetch(`${url}${publicPaths.health}`, options);
    return status === 200 ? true : status === 503 ? false : null;
  } catch {
    return null;
  }
}
