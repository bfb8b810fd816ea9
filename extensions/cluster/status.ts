/** The status of a cluster: what its nodes report, and whether their servers answer. */
import { gte, sql } from "drizzle-orm";
import { windowMs } from "../../src/contract/limits.ts";
import type { Connection } from "../../src/db/connection.ts";
import { keys } from "../../src/db/schema.ts";
import { disagreementOf } from "./clock.ts";
import { listMembers, type Member, type NodeState, stateOf } from "./members.ts";
import { NoAnswer, query, type RqliteNode, request } from "./node.ts";
import { findLongReaders } from "./readers.ts";
import { lastErasing, scrubbedUpTo } from "./scrub.ts";
import { healthOf } from "./served-store.ts";
import { flushes, nodes } from "./tables.ts";
import { askPosition, openShownWrites, type Position } from "./transaction.ts";

const timeoutMs = 3_000;
/** The status in the names of `cluster status --json`. */
export type ClusterStatus = Awaited<ReturnType<typeof askCluster>>;
export type NodeStatus = Awaited<ReturnType<typeof describe>>;

/** Asks all nodes and servers at once. Throws NoAnswer if the local node does not answer. */
export async function askCluster(node: RqliteNode, file: Connection, nowMs: number) {
  const path = file.$client.filename;
  const own = openShownWrites(file).lastPosition();
  const askingPermission = mayReplaceLeader(node);
  const asked = await Promise.all(
    (await listMembers(node)).map((member) => askNode(member, own, member.name === node.name, path)),
  );
  const known = collect(node, asked, file);
  const described = await Promise.all(asked.map((one) => describe(one, known)));
  const voters = asked.filter(({ isVoter }) => isVoter);
  return {
    nodes: described,
    /** True if more than half of the nodes with a vote are reachable. */
    has_majority: voters.filter(isReachable).length * 2 > voters.length,
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

type Asked = Awaited<ReturnType<typeof askNode>>;

/** Asks a node for its state, its last transaction and its clock, and its last scrub; null if it does not answer. */
async function askNode(member: Member, own: Position | null, isLocal: boolean, path: string) {
  const reading = isLocal ? findLongReaders(path) : [];
  const askingState = stateOf(member);
  const position = await askPosition(member, own, timeoutMs).catch(() => null);
  // The connection is there now, so that one round trip is measured.
  const sentMs = performance.now();
  const scrubbed = position === null ? 0 : await scrubbedUpTo(member, timeoutMs).catch(() => 0);
  const roundTripMs = position === null ? null : Math.round(performance.now() - sentMs);
  const state = await askingState;
  // A node reports its state only between two transactions, but can always be read.
  const isStuck = state === null && position !== null;
  const asked = { ...member, state, position, scrubbed, roundTripMs, isStuck, file: path, readers: await reading };
  if (isLocal || !isStuck) return asked;
  // On a machine with several nodes, their files have different paths.
  const question = sql`SELECT file FROM pragma_database_list WHERE name = 'main'`;
  const file = String(await query(member, question, "none", timeoutMs).catch(() => path));
  return file === path ? asked : { ...asked, file, readers: await findLongReaders(file) };
}

/** Returns true if a node answered anything. */
function isReachable({ state, position }: Pick<Asked, "state" | "position">): boolean {
  return state !== null || position !== null;
}

/** Collects the facts about a cluster with which each of its nodes is described. */
function collect(node: RqliteNode, asked: readonly Asked[], file: Connection) {
  const others = asked.filter(({ name }) => name !== node.name);
  return {
    newestEntry: Math.max(0, ...asked.flatMap(({ state }) => state?.store?.raft?.commit_index ?? [])),
    majorityOffMs: disagreementOf(others.flatMap(({ position }) => position?.clockOffMs ?? [])),
    lacking: findLacking(asked),
    servers: file.select().from(nodes).all(),
    lastErasing: lastErasing(file),
  };
}

async function describe(
  { name, url, isLeader, isVoter, state, position, isStuck, scrubbed, roundTripMs, file, readers }: Asked,
  known: ReturnType<typeof collect>,
) {
  const raft = state?.store?.raft;
  const server = known.servers.find((one) => one.name === name);
  const serves = server !== undefined && (await healthOf(server.url)) === true;
  return {
    name,
    role: isLeader ? "leader" : isVoter ? "follower" : "reader",
    /** Null if the node is unreachable: rqlite does not report its address then. */
    url: isReachable({ state, position }) ? url : null,
    is_reachable: isReachable({ state, position }),
    /** True if it can be read, but applies no writes. */
    is_stuck: isStuck,
    /** The programs that keep reading its file, and the file, as far as this machine can see them. */
    readers,
    file,
    /** Entries of the Raft log that it has not applied yet; null if it did not report it. */
    lag: raft?.applied_index === undefined ? null : Math.max(0, known.newestEntry - raft.applied_index),
    /** The time from here to the node and back; null if it does not answer. */
    round_trip_ms: roundTripMs,
    /** The version of rqlite. */
    version: state?.build?.version ?? null,
    /** The size of its log in bytes, including free pages. */
    log_bytes: raft?.log_size ?? null,
    wrong_flags: wrongFlagsOf(state),
    /** True if it lacks some of what was written, as after a full disk. */
    lacks_writes: known.lacking.has(name),
    /** The lead of its clock over that of the majority. */
    clock_off_ms: position === null ? null : Math.round(position.clockOffMs - known.majorityOffMs),
    /** True if its files have no residual bytes. */
    is_scrubbed: scrubbed >= known.lastErasing,
    /** Null if none was ever registered. */
    server: server === undefined ? null : { url: server.url, version: server.version, serves },
  };
}

/** The flags that a node should have been started with, as far as it reports them. */
function wrongFlagsOf(state: NodeState | null): string[] {
  if (state?.store === undefined) return [];
  return [
    ...(state.store.db_conf?.fk_constraints === false ? ["-fk"] : []),
    ...(state.store.snapshot_interval === "2s" ? [] : ["-raft-snap-int=2s"]),
    ...(state.store.heartbeat_timeout === "500ms" ? [] : ["-raft-timeout=500ms"]),
  ];
}

/**
 * Returns the names of nodes that lack transactions: those whose chain at the last transaction of the local file differs from
 * that of most nodes or, in a tie, from that of the node with the most transactions.
 */
function findLacking(members: readonly Asked[]): Set<string> {
  // A node that does not answer, or does not have that transaction yet, is not known to lack anything.
  const having = members.flatMap(({ name, position }) => {
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
  const spread = sql`SELECT one.value FROM ${flushes}, json_each(${flushes.keys}) AS one
    WHERE ${gte(flushes.minute, since)} GROUP BY ${flushes.minute}, one.value HAVING count(*) > 1`;
  const found = file.select({ id: keys.id }).from(keys).where(sql`${keys.number} IN (${spread})`);
  return found.all().map(({ id }) => id);
}
