/** The status of a cluster: what its nodes report, and whether their servers answer. */
import { gte, inArray, sql } from "drizzle-orm";
import { windowMs } from "../../src/contract/limits.ts";
import { lastAct } from "../../src/db/audit.ts";
import type { Connection } from "../../src/db/connection.ts";
import { type Act, audit, keys } from "../../src/db/schema.ts";
import { askPosition, medianOf } from "./lease/leased-file.ts";
import { listMembers, type Member, type NodeState, stateOf } from "./members.ts";
import { query, type RqliteNode } from "./node.ts";
import { healthOf } from "./served-store.ts";
import { flushes, nodes, scrubs, writes } from "./tables.ts";

const timeoutMs = 3_000;
/** Acts after which a log holds residual bytes. */
const erasingActs: readonly Act[] = ["lead.erase", "retain.erase", "import.undo", "account.delete"];

/** The status in the names of `cluster status --json`. */
export interface ClusterStatus {
  readonly nodes: readonly NodeStatus[];
  /** True if more than half of the nodes with a vote are reachable. */
  readonly has_majority: boolean;
  /** IDs of keys that several nodes counted in one minute, so that each of them granted a limit. */
  readonly spread_keys: readonly string[];
}

export interface NodeStatus {
  readonly name: string;
  readonly role: "leader" | "follower" | "reader";
  /** Null if the node is unreachable: rqlite does not report its address then. */
  readonly url: string | null;
  readonly is_reachable: boolean;
  /** Entries of the Raft log that it has not applied yet; null if it did not report it. */
  readonly lag: number | null;
  /** The version of rqlite. */
  readonly version: string | null;
  /** The size of its log in bytes, including free pages. */
  readonly log_bytes: number | null;
  /** Flags that it should have been started with, as far as it reports them. */
  readonly wrong_flags: readonly string[];
  /** True if it lacks some of what was written, as after a full disk. */
  readonly lacks_writes: boolean;
  /** The lead of its clock over that of the majority. */
  readonly clock_off_ms: number | null;
  /** True if its log holds no residual bytes. */
  readonly is_scrubbed: boolean;
  /** Its server; null if none was ever registered. */
  readonly server: { readonly url: string; readonly version: string; readonly serves: boolean } | null;
}

/** Asks all nodes and servers at once. Throws DatabaseUnavailable if the local node does not answer. */
export async function askCluster(node: RqliteNode, file: Connection, nowMs: number): Promise<ClusterStatus> {
  const members = await listMembers(node);
  const [states, samples] = await Promise.all([Promise.all(members.map(stateOf)), Promise.all(members.map(askSample))]);
  const newest = Math.max(0, ...states.flatMap((state) => state?.store?.raft?.commit_index ?? []));
  const lacking = await findLacking(members, samples);
  const medianMs = medianOf(samples.flatMap((sample) => sample?.clockOffMs ?? []));
  const servers = file.select().from(nodes).all();
  const scrubbed = file.select().from(scrubs).all();
  const lastErasing = lastAct(file, inArray(audit.act, erasingActs))?.number ?? 0;
  const statuses = await Promise.all(
    members.map(async ({ name, url, isLeader, isVoter }, place): Promise<NodeStatus> => {
      const server = servers.find((one) => one.name === name);
      const state = states[place] ?? null;
      const clockMs = samples[place]?.clockOffMs;
      const serves = server !== undefined && (await healthOf(server.url)) === true;
      return {
        name,
        role: isLeader ? "leader" : isVoter ? "follower" : "reader",
        url: state === null ? null : url,
        ...reportedBy(state, newest),
        lacks_writes: lacking.has(name),
        clock_off_ms: clockMs === undefined ? null : Math.round(clockMs - medianMs),
        is_scrubbed: (scrubbed.find((one) => one.node === name)?.audit ?? 0) >= lastErasing,
        server: server === undefined ? null : { url: server.url, version: server.version, serves },
      };
    }),
  );
  const voters = statuses.filter(({ role }) => role !== "reader");
  const hasMajority = voters.filter((voter) => voter.is_reachable).length * 2 > voters.length;
  return { nodes: statuses, has_majority: hasMajority, spread_keys: listSpreadKeys(file, nowMs) };
}

/** The report of a node about itself, which has applied the log up to some entry. */
function reportedBy(state: NodeState | null, newest: number) {
  const raft = state?.store?.raft;
  return {
    is_reachable: state !== null,
    lag: raft?.applied_index === undefined ? null : Math.max(0, newest - raft.applied_index),
    version: state?.build?.version ?? null,
    log_bytes: raft?.log_size ?? null,
    wrong_flags: wrongFlagsOf(state),
  };
}

/** Only some of the flags are reported. */
function wrongFlagsOf(state: NodeState | null): string[] {
  if (state?.store === undefined) return [];
  return [
    ...(state.store.db_conf?.fk_constraints === false ? ["-fk"] : []),
    ...(state.store.snapshot_interval === "2s" ? [] : ["-raft-snap-int=2s"]),
    ...(state.store.heartbeat_timeout === "500ms" ? [] : ["-raft-timeout=500ms"]),
  ];
}

type Sample = Awaited<ReturnType<typeof askPosition>>;

/** Asks a node for its own last transaction and its clock; null if it does not answer, or has no tables yet. */
async function askSample(member: Member): Promise<Sample | null> {
  return await askPosition(member, null, timeoutMs).catch(() => null);
}

/** The chain and the number of some transactions on a node, by their IDs. */
type Chains = Readonly<Record<string, readonly [chain: number, number: number]>>;

/**
 * Finds the names of nodes that lack transactions: of two nodes that differ, the one that agrees with fewer nodes; if both
 * agree with as many, the one that has fewer transactions.
 */
async function findLacking(members: readonly Member[], samples: readonly (Sample | null)[]): Promise<Set<string>> {
  const ids = JSON.stringify(samples.flatMap((sample) => sample?.last?.id ?? []));
  const question = sql`SELECT json_group_object(id, json_array(chain, number)) FROM ${writes}
    WHERE id IN (SELECT value FROM json_each(${ids}))`;
  const all = await Promise.all(
    members.map(async (member) => {
      const value = await query(member, question, "none", timeoutMs).catch(() => null);
      const chains: Chains = JSON.parse(typeof value === "string" ? value : "{}"); // As asked for.
      return { name: member.name, chains };
    }),
  );
  /** The number of transactions one node is ahead of another one, at each that both have in different chains. */
  const differences = (one: Chains, other: Chains) =>
    Object.entries(one).flatMap(([id, [chain, number]]) => {
      const theirs = other[id];
      return theirs === undefined || theirs[0] === chain ? [] : [number - theirs[1]];
    });
  const agreeing = (one: Chains) => all.filter(({ chains }) => differences(one, chains).length === 0).length;
  const lacks = (one: Chains, other: Chains) =>
    differences(one, other).some((ahead) => (agreeing(one) - agreeing(other) || ahead) < 0);
  return new Set(all.filter(({ chains }) => all.some((other) => lacks(chains, other.chains))).map(({ name }) => name));
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
