/**
 * The store of a server beside an rqlite node. Requests read the node's file as a server without a cluster reads its own,
 * and each looks at the lease once. Only counts and notes of who received what leave for the cluster.
 */
import { randomText } from "../../src/contract/key.ts";
import { innermost, lastCountsLost } from "../../src/db/failure.ts";
import { accounts } from "../../src/db/schema.ts";
import type { StoreGauge } from "../../src/db/serving.ts";
import { createUsageCounter } from "../../src/db/usage-counter.ts";
import type { ServedStore } from "../../src/served-store.ts";
import { announce } from "./lease/announce.ts";
import { keepLease } from "./lease/keep-lease.ts";
import { createLease, type Lease } from "./lease/lease.ts";
import type { LeaseReport } from "./lease/questions.ts";
import { readUnderLease } from "./lease/read-under-lease.ts";
import type { RqliteNode } from "./node/node.ts";
import { createDisclosureFlusher } from "./privacy/disclosure-flush.ts";
import { retainOnCluster } from "./privacy/retention-thread.ts";
import { type Opening, openReplica, type Replica } from "./replica.ts";
import { createFlusher } from "./usage-flush.ts";

interface ClusterPlace {
  /** The SQLite file of the node beside. */
  readonly path: string;
  readonly node: RqliteNode;
  /** The name of this server in the cluster. */
  readonly name: string;
  /** Whether it is kept which key received which leads. */
  readonly keepsLedger: boolean;
}

/** How long a stop tries to hand over the last counts, with a pause between two tries. */
const farewellMs = 5_000;
const pauseMs = 100;

/** Opens the store of a server of a cluster. Throws where the file of the node cannot be read. */
export function openClusterStore({ path, node, name, keepsLedger }: ClusterPlace): ServedStore {
  const replica = openReplica(path);
  const lease = createLease({ monotonicMs: () => performance.now(), wallMs: Date.now });
  const { reading, see, version } = readUnderLease(replica, lease, () => asking.refusal());
  const sender = { name, process: randomText(16) };
  const kept = {
    between: (...asked: Parameters<Opening["usage"]["between"]>) => replica.current().usage.between(...asked),
  };
  const usage = createFlusher(node, sender, createUsageCounter(kept), () =>
    replica.current().shownPart(name, sender.process),
  );
  const ledger = createDisclosureFlusher(node, { path, current: () => replica.current().database });
  const settle = async () => void (await Promise.all([usage.settle(), ledger.settle()]));
  let isClosed = false;
  let isLedgersTurn = false;
  const asking = keepLease(node, sender, lease, { see, lastPosition: () => replica.current().lastPosition() });
  return {
    version,
    ...readerOf(reading),
    usage: { count: usage.count, of: reading((_, key: number, nowMs: number) => usage.of(key, nowMs)) },
    disclosures: { note: keepsLedger ? ledger.note : () => undefined },
    gauges: gaugesOf(lease, asking.report),
    probe() {
      version();
      replica.current().reader.probe();
    },
    sizes: () => replica.current().reader.sizes(),
    flush() {
      // Every write empties SQLite's cache of the file on all nodes. The ledger can wait for every other turn.
      isLedgersTurn = !isLedgersTurn;
      if (isLedgersTurn) ledger.flush();
      return usage.flush();
    },
    settle,
    applyRetention: (nowMs, hasJumped) => retainOnCluster(replica, { path, node, nowMs, hasJumped }),
    listening: (url) =>
      announce(node, { path, current: () => replica.current().database }, { ...sender, url }, () => isClosed),
    isEmpty: () => isEmpty(replica),
    async close() {
      isClosed = true;
      asking.end();
      try {
        await writeLast(() => [usage.flush(), ledger.flush()], settle);
      } finally {
        replica.close();
      }
    },
  };
}

/** Sends what is left, again where it failed: a cluster may be without a leader for a second or two. */
async function writeLast(flush: () => unknown, settle: () => Promise<void>): Promise<void> {
  const endMs = performance.now() + farewellMs;
  for (;;) {
    flush();
    try {
      return await settle();
    } catch (cause) {
      const reason = innermost(cause);
      if (performance.now() > endMs) throw lastCountsLost(reason);
    }
    await Bun.sleep(pauseMs);
  }
}

/** What requests read, each time from the file as the node has it now. */
function readerOf(
  reading: ReturnType<typeof readUnderLease>["reading"],
): Pick<ServedStore, "keys" | "pixels" | "leads"> {
  return {
    keys: { find: reading(({ reader }, digest: Buffer) => reader.keys.find(digest)) },
    pixels: {
      list: reading(({ reader }, account: number) => reader.pixels.list(account)),
      has: reading(({ reader }, account: number, id: string) => reader.pixels.has(account, id)),
    },
    leads: {
      page: reading(({ reader }, ...asked: Parameters<Opening["reader"]["leads"]["page"]>) =>
        reader.leads.page(...asked),
      ),
    },
  };
}

/** A node that has just joined may have no file yet: then nobody knows. */
function isEmpty(replica: Replica): boolean {
  try {
    const any = replica.current().database.select({ number: accounts.number }).from(accounts).limit(1);
    return any.values().length === 0;
  } catch {
    return false;
  }
}

/** The metrics of the lease, for the alert rules in deploy/cluster/prometheus-alerts.yml. */
function gaugesOf(lease: Lease, report: () => LeaseReport): StoreGauge[] {
  const gauge = (name: string, help: string, read: () => number | null): StoreGauge => {
    return { name: `leadfile_cluster_${name}`, help, read };
  };
  return [
    gauge("lease_age_seconds", "Time since the answers on which the lease is based; it ends after 4 s.", () => {
      const ageMs = lease.ageMs();
      return ageMs === null ? null : ageMs / 1_000;
    }),
    gauge("serving", "1 while this server has a lease.", () => Number(lease.holds())),
    gauge("lag_transactions", "Transactions that the local node has not applied yet.", () => report().lag),
    gauge("missing_writes", "1 if the local node lacks writes that a majority has.", () => Number(lease.lacksWrites())),
    gauge("leader", "1 if the local node is the leader.", () => Number(report().isLeader)),
    gauge("members", "Nodes with a vote.", () => report().voters),
    gauge("reachable_members", "Nodes with a vote that answered the last question.", () => report().reachable),
    gauge("clock_off_seconds", "How far the clock is behind that of the majority.", () => report().clockOffMs / 1_000),
  ];
}
