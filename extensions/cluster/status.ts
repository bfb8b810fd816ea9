/** The status of a cluster: what its nodes report, and whether their servers answer. */
import { sql } from "drizzle-orm";
import { windowMs } from "../../src/contract/limits.ts";
import type { Connection } from "../../src/db/connection.ts";
import { askHealth } from "../../src/server/health.ts";
import { disagreementOf } from "./clock.ts";
import { listMembers, type Member, type NodeState, stateOf } from "./members.ts";
import { NoAnswer, query, type RqliteNode, request } from "./node.ts";
import { findLongReaders } from "./readers.ts";
import { lastErasing, scrubbedUpTo } from "./scrub.ts";
import { askPosition, listServers, openShownWrites, type Position } from "./transactions.ts";

const timeoutMs = 3_000;
/** The status in the names of `cluster status --json`. */
export type ClusterStatus = Awaited<ReturnType<typeof askCluster>>;
export type NodeStatus = ClusterStatus["nodes"][number];

/** Asks all nodes and servers at once. Throws NoAnswer if the local node does not answer. */
export async function askCluster(node: RqliteNode, file: Connection, nowMs: number) {
  const path = file.$client.filename;
  const own = openShownWrites(file).lastPosition();
  const servers = listServers(file);
  const askingPermission = mayReplaceLeader(node);
  const members = await listMembers(node);
  const asked = await Promise.all(
    members.map(async (member) => {
      const server = servers.find(({ name }) => name === member.name);
      const answers = await Promise.all([
        askNode(member, own, path, member.name === node.name),
        server === undefined ? null : askHealth(server.url),
      ]);
      return {
        ...answers[0],
        server: server && { url: server.url, version: server.version, serves: answers[1] === "fine" },
      };
    }),
  );
  const voters = asked.filter(({ isVoter }) => isVoter);
  return {
    nodes: describeAll(asked, node.name, lastErasing(file)),
    /** True if more than half of the nodes with a vote are reachable. */
    has_majority: voters.filter(({ isAnswering }) => isAnswering).length * 2 > voters.length,
    /** IDs of keys that several nodes counted in one minute, so that each of them granted a limit. */
    spread_keys: listSpreadKeys(file, nowMs),
    /** False if the user in CLUSTER_AUTH lacks the permission with which a server replaces a leader that cannot write. */
    may_replace_leader: await askingPermission,
  };
}

async function mayReplaceLeader(node: RqliteNode): Promise<boolean> {
  const failed: unknown = await request(node, "GET", "/leader", timeoutMs).catch((cause) => cause);
  return !(failed instanceof NoAnswer && failed.kind === "not allowed");
}

/** Asks a node for its state, its last transaction and its clock, and its last scrub. */
async function askNode(member: Member, own: Position | null, path: string, isLocal: boolean) {
  const reading = isLocal ? findLongReaders(path) : [];
  const askingState = stateOf(member);
  const position = await askPosition(member, timeoutMs, "none", "", own).catch(() => null);
  // The connection is open by now, so only one round trip is measured.
  const sentMs = performance.now();
  const scrubbed = position === null ? 0 : await scrubbedUpTo(member, timeoutMs).catch(() => 0);
  const roundTripMs = position === null ? null : Math.round(performance.now() - sentMs);
  const state = await askingState;
  // A node reports its state only between two transactions, but can always be read.
  const isStuck = state === null && position !== null;
  // On a machine with several nodes, their files have different paths.
  const question = sql`SELECT file FROM pragma_database_list WHERE name = 'main'`;
  const askingFile = isStuck && !isLocal ? query(member, question, "none", timeoutMs).catch(() => path) : path;
  const file = String(await askingFile);
  const readers = file === path ? await reading : await findLongReaders(file);
  const isAnswering = state !== null || position !== null;
  return { ...member, isAnswering, state, position, scrubbed, roundTripMs, isStuck, file, readers };
}

type Asked = Awaited<ReturnType<typeof askNode>> & {
  readonly server: { readonly url: string; readonly version: string; readonly serves: boolean } | undefined;
};

/** Describes each node, compared with the others. `erasing` is the last act that left residual bytes. */
function describeAll(asked: readonly Asked[], local: string, erasing: number) {
  const others = asked.filter(({ name }) => name !== local);
  const majorityOffMs = disagreementOf(others.flatMap(({ position }) => position?.clockOffMs ?? []));
  const newestEntry = Math.max(0, ...asked.map(({ state }) => state?.store?.raft?.commit_index ?? 0));
  const lacking = findLacking(asked);
  return asked.map(({ name, isLeader, isVoter, isAnswering, state, position, ...one }) => {
    const { applied_index: applied, log_size: log } = state?.store?.raft ?? {};
    return {
      name,
      role: isLeader ? "leader" : isVoter ? "follower" : "reader",
      /** Null if the node is unreachable: rqlite does not report its address then. */
      url: isAnswering ? one.url : null,
      is_reachable: isAnswering,
      /** True if the node can be read, but applies no writes. */
      is_stuck: one.isStuck,
      /** The programs that keep reading the file of the node, and the file, as far as this machine can see them. */
      readers: one.readers,
      file: one.file,
      /** The number of entries of the Raft log that the node has not applied yet; null if the node does not report it. */
      lag: applied === undefined ? null : Math.max(0, newestEntry - applied),
      /** The round trip from this machine to the node; null if the node does not answer. */
      round_trip_ms: one.roundTripMs,
      /** The version of rqlite. */
      version: state?.build?.version ?? null,
      /** The size of its log in bytes, including free pages. */
      log_bytes: log ?? null,
      wrong_flags: wrongFlagsOf(state),
      /** True if the node lacks writes, as after a full disk. */
      lacks_writes: lacking.has(name),
      /** The lead of its clock over that of the majority. */
      clock_off_ms: position === null ? null : Math.round(position.clockOffMs - majorityOffMs),
      /** True if its files have no residual bytes. */
      is_scrubbed: one.scrubbed >= erasing,
      /** The server of the node; null if none was ever registered. */
      server: one.server ?? null,
    };
  });
}

/** The flags that a node should have been started with, as far as it reports them. */
function wrongFlagsOf(state: NodeState | null): string[] {
  if (state?.store === undefined) return [];
  const { db_conf, snapshot_interval, heartbeat_timeout } = state.store;
  return [
    ...(db_conf?.fk_constraints === false ? ["-fk"] : []),
    ...(snapshot_interval === "2s" ? [] : ["-raft-snap-int=2s"]),
    ...(heartbeat_timeout === "500ms" ? [] : ["-raft-timeout=500ms"]),
  ];
}

/**
 * Returns the names of nodes that lack transactions: those whose chain at the last transaction of the local file differs from
 * that of most nodes or, in a tie, from that of the node with the most transactions.
 */
function findLacking(asked: readonly Asked[]): Set<string> {
  // A node that does not answer, or does not have that transaction yet, is not known to lack anything.
  const having = asked.flatMap(({ name, position }) => {
    return position === null || position.chainAtOwn === null ? [] : [{ ...position, name }];
  });
  const agreeing = (chain: number | null) => having.filter((one) => one.chainAtOwn === chain).length;
  const [right] = having.toSorted(
    (one, other) =>
      agreeing(other.chainAtOwn) - agreeing(one.chainAtOwn) || (other.last?.number ?? 0) - (one.last?.number ?? 0),
  );
  return new Set(having.filter(({ chainAtOwn }) => chainAtOwn !== right?.chainAtOwn).map(({ name }) => name));
}

/** Counts from earlier say nothing about the current configuration of the balancer. */
const spreadWithinMs = 2 * windowMs;

function listSpreadKeys(file: Connection, nowMs: number): string[] {
  const since = Math.floor((nowMs - spreadWithinMs) / windowMs);
  const found = file.values<[id: string]>(sql`SELECT id FROM keys WHERE number IN (
    SELECT one.value FROM cluster_last_flushes, json_each(keys) AS one WHERE minute >= ${since}
    GROUP BY minute, one.value HAVING count(*) > 1)`);
  return found.map(([id]) => id);
}
