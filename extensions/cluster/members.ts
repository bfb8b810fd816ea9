/** The nodes of a cluster: their list, the state that each reports, and whether the local one is the configured one. */
import { statSync } from "node:fs";
import { sql } from "drizzle-orm";
import { walOf } from "../../src/db/database-files.ts";
import { orElse } from "../../src/db/failure.ts";
import { UserError } from "../../src/runtime/user-error.ts";
import { NoAnswer, parseAnswer, query, type RqliteNode, request } from "./node.ts";

const timeoutMs = 3_000;

/** The longest supported round trip between two nodes. */
export const maxRoundTripMs = 300;
/** A request connects to a node, which asks the leader, which asks the other nodes. */
const roundTripsPerRequest = 4;

/** Adds the measured round trips to a time limit, which is meant for nodes with no network delay. */
export function withinDistance({ known }: RqliteNode, ms: number): number {
  return Math.round(ms + roundTripsPerRequest * Math.min(known.roundTripMs, maxRoundTripMs));
}

/**
 * A node keeps dozens of connections to each other node. After a restart of the other node, each is found broken once, and
 * the other node is listed as unreachable. So the list is requested again for this time.
 */
const patienceMs = 1_000;
const brokenConnection = /broken pipe|connection reset|EOF/;

/** A node of the cluster, and its role. */
export interface Member extends RqliteNode {
  readonly isLeader: boolean;
  readonly isVoter: boolean;
  /** True if the local node reaches it. */
  readonly isReachable: boolean;
}

/** A node as rqlite lists it. */
interface ListedNode {
  readonly id: string;
  readonly api_addr?: string;
  readonly leader?: boolean;
  readonly voter?: boolean;
  /** The reason why it is unreachable. */
  readonly error?: string;
  /** The seconds that the local node waited for it. */
  readonly time?: number;
}

/**
 * Lists all nodes, with and without a vote, and measures their distance. The local node waits for each other one up to
 * `reachWithinMs`, and longer at a distance. Throws NoAnswer if it does not answer itself.
 */
export async function listMembers(node: RqliteNode, reachWithinMs = 2_000): Promise<Member[]> {
  const { known } = node;
  const endMs = performance.now() + patienceMs;
  let listed: readonly ListedNode[];
  do {
    const path = `/nodes?nonvoters&ver=2&timeout=${withinDistance(node, reachWithinMs)}ms`;
    const text = await request(node, "GET", path, withinDistance(node, timeoutMs));
    listed = parseAnswer<{ readonly nodes: readonly ListedNode[] }>(text).nodes;
  } while (listed.some(({ error }) => brokenConnection.test(error ?? "")) && performance.now() < endMs);
  const times = listed.flatMap(({ error, time = 0 }) => (error === undefined ? time * 1_000 : []));
  known.roundTripMs = Math.round(Math.max(0, ...times));
  const scheme = node.url.slice(0, node.url.indexOf("//"));
  return listed.map(({ id: name, api_addr: address = "", leader, voter }) => {
    if (address !== "") known.urls.set(name, address.includes("://") ? address : `${scheme}//${address}`);
    // rqlite does not give the address of an unreachable node. A request to one that was never reached fails, as it should.
    const url = known.urls.get(name) ?? `${scheme}//0.0.0.0:1`;
    return { ...node, name, url, isLeader: leader === true, isVoter: voter === true, isReachable: address !== "" };
  });
}

/** Returns the nodes with a vote except one. */
export function otherVoters(members: readonly Member[], name: string): Member[] {
  return members.filter((member) => member.isVoter && member.name !== name);
}

/**
 * Returns true if a node has no data and is a cluster by itself, like one that was started with an empty folder and without
 * -join.
 */
export async function isEmptyAlone(node: RqliteNode): Promise<boolean> {
  const isAlone = (await listMembers(node)).length === 1;
  return isAlone && Number(await query(node, sql`SELECT count(*) FROM sqlite_schema`, "none", timeoutMs)) === 0;
}

/** Throws a UserError if a node has started its own cluster instead of joining one. */
export async function refuseAlone(node: RqliteNode): Promise<void> {
  if (!(await isEmptyAlone(node))) return;
  throw new UserError(
    `${node.name} has no data and is a cluster by itself, because it was started without -join.`,
    "Stop it, delete its folder, and start it with -join. To begin a cluster with it, run cluster init.",
  );
}

/** The fields of rqlite's /status that are read here. Each one may be missing. */
export interface NodeState {
  readonly build?: { readonly version?: string };
  readonly store?: {
    readonly node_id?: string;
    readonly snapshot_interval?: string;
    readonly heartbeat_timeout?: string;
    readonly sqlite3?: { readonly path: string; readonly last_modified: string };
    readonly db_conf?: { readonly fk_constraints?: boolean };
    readonly raft?: {
      readonly state?: string;
      readonly commit_index?: number;
      readonly applied_index?: number;
      readonly log_size?: number;
    };
  };
}

/** Asks a node for its state; null if it does not answer. */
export async function stateOf(node: RqliteNode): Promise<NodeState | null> {
  return await request(node, "GET", "/status", timeoutMs).then(parseAnswer<NodeState>, () => null);
}

/** Waits until a node answers and has a leader, which takes a second or two after a start. Throws NoAnswer. */
export async function untilReady(node: RqliteNode): Promise<void> {
  for (const endMs = performance.now() + 60_000; ; await Bun.sleep(100)) {
    try {
      await request(node, "GET", "/readyz", 1_000);
      return;
    } catch (cause) {
      if (performance.now() > endMs || (cause instanceof NoAnswer && cause.kind === "not allowed")) throw cause;
    }
  }
}

/**
 * Checks that the node at CLUSTER is the one at NODE_NAME, and that the file at DATABASE_PATH is its file. Throws a UserError
 * otherwise. A node that does not answer is accepted.
 */
export async function checkLocalNode(node: RqliteNode, path: string): Promise<void> {
  const actual = (await stateOf(node))?.store?.node_id ?? node.name;
  if (actual !== node.name) {
    throw new UserError(
      `NODE_NAME is ${node.name}, but the node at CLUSTER is ${actual}.`,
      "Set NODE_NAME to its -node-id, or CLUSTER to the node whose file is at DATABASE_PATH.",
    );
  }
  if (await hasOtherFile(node, path)) {
    throw new UserError(
      `${path} is not the file of ${actual}, the node at CLUSTER.`,
      "Set DATABASE_PATH to db.sqlite in the folder of that node, or CLUSTER and NODE_NAME to the node of this file.",
    );
  }
}

/**
 * Compares the time of the last write to the file. All nodes have the same data, and a container has another path for a file,
 * but two machines never write at the same nanosecond. A kernel rounds it to its last tick, so two files of one machine can
 * have the same time; there, the path of the node leads to its file. Asks again after a write during the comparison.
 */
async function hasOtherFile(node: RqliteNode, path: string): Promise<boolean> {
  for (let tries = 0; tries < 5; tries++) {
    const before = writtenNs(path);
    const reported = (await stateOf(node))?.store?.sqlite3;
    const after = writtenNs(path);
    if (reported === undefined || before === 0n || after === 0n) return false;
    const reportedNs = Temporal.Instant.from(reported.last_modified).epochNanoseconds;
    // If the node runs in a container, its path may not exist here, or may be in a folder that this user may not read.
    const isOtherHere = () => statSync(reported.path).ino !== statSync(path).ino;
    if (reportedNs === before || reportedNs === after) return orElse(isOtherHere, false);
    if (before === after) return true;
    await Bun.sleep(500);
  }
  return false;
}

/** The time of the last write to the file or its log; 0 if both are missing. */
function writtenNs(path: string): bigint {
  const [file, wal] = [path, walOf(path)].map((each) => statSync(each, { bigint: true, throwIfNoEntry: false }));
  const [fileNs, walNs] = [file?.mtimeNs ?? 0n, wal?.mtimeNs ?? 0n];
  return fileNs > walNs ? fileNs : walNs;
}
