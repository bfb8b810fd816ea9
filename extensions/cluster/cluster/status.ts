/** How a cluster is: what its nodes say of themselves, and whether the servers beside them answer. */
import { gte, inArray } from "drizzle-orm";
import { windowMs } from "../../../src/contract/limits.ts";
import { publicPaths } from "../../../src/contract/paths.ts";
import { lastAct } from "../../../src/db/audit.ts";
import type { Connection } from "../../../src/db/connection.ts";
import { type Act, audit, flushes, keys, nodes, scrubs } from "../../../src/db/schema.ts";
import { askLastWrite, openNumberOf } from "../last-write.ts";
import { listMembers, type Member } from "../node/members.ts";
import type { RqliteNode } from "../node/node.ts";
import { type NodeState, stateOf } from "../node/state.ts";
import type { ClusterStatus, NodeStatus } from "./node-status.ts";

const timeoutMs = 3_000;
/** Acts on record after which a log holds what is to be gone. */
const erasingActs: readonly Act[] = ["lead.erase", "retain.erase", "import.undo", "account.delete"];

/** Asks all nodes and servers at once. Throws a StoreError where not even the own node answers. */
export async function askCluster(node: RqliteNode, database: Connection, nowMs: number): Promise<ClusterStatus> {
  const members = await listMembers(node);
  const told = await Promise.all(members.map(stateOf));
  const commits = told.flatMap((one) => one?.store?.raft?.commit_index ?? []);
  const newest = Math.max(0, ...commits);
  const kept = readKept(database);
  const lacking = await findLacking(members, (await stateOf(node))?.store?.node_id, openNumberOf(database));
  const statuses = await Promise.all(
    members.map(async (member, place): Promise<NodeStatus> => {
      const raft = told[place]?.store?.raft;
      const server = kept.servers.get(member.name) ?? null;
      return {
        name: member.name,
        role: member.isLeader ? "leader" : member.isVoter ? "follower" : "reader",
        url: member.url,
        isReachable: told[place] !== null,
        lag: raft?.applied_index === undefined ? null : Math.max(0, newest - raft.applied_index),
        version: told[place]?.build?.version ?? null,
        logBytes: raft?.log_size ?? null,
        wrongFlags: wrongFlagsOf(told[place] ?? null),
        lacksWrites: lacking.has(member.name),
        isScrubbed: (kept.scrubbed.get(member.name) ?? 0) >= kept.lastErasing,
        server: server === null ? null : { ...server, serves: await serves(server.url) },
      };
    }),
  );
  const voters = statuses.filter(({ role }) => role !== "reader");
  const hasMajority = voters.filter(({ isReachable }) => isReachable).length * 2 > voters.length;
  return { nodes: statuses, hasMajority, spreadKeys: listSpreadKeys(database, nowMs) };
}

/**
 * The names of nodes that lack some of what was written: from there on their numbers of writes are lower. The last write of
 * each is compared with the own node, unless that does not show it yet.
 */
async function findLacking(
  members: readonly Member[],
  own: string | undefined,
  numberOf: (id: string) => number | undefined,
): Promise<Set<string>> {
  const found = members.map(async (member) => {
    const last = await askLastWrite(member);
    const number = last === null ? undefined : numberOf(last.id);
    if (last === null || number === undefined || number === last.number) return [];
    return [last.number < number ? member.name : (own ?? member.name)];
  });
  return new Set((await Promise.all(found)).flat());
}

/** Only some of the flags can be seen from outside. */
function wrongFlagsOf(told: NodeState | null): string[] {
  if (told?.store === undefined) return [];
  return [
    ...(told.store.db_conf?.fk_constraints === false ? ["-fk"] : []),
    ...(told.store.snapshot_interval === "2s" ? [] : ["-raft-snap-int=2s"]),
    ...(told.store.heartbeat_timeout === "500ms" ? [] : ["-raft-timeout=500ms"]),
  ];
}

async function serves(url: string): Promise<boolean> {
  try {
    const request = { signal: AbortSignal.timeout(timeoutMs), tls: { rejectUnauthorized: false } };
    return (await fetch(`${url}${publicPaths.health}`, request)).status === 200;
  } catch {
    return false;
  }
}

function readKept(database: Connection) {
  const servers = database.select().from(nodes).all();
  const scrubbed = database.select().from(scrubs).all();
  return {
    servers: new Map(servers.map(({ name, url, version }) => [name, { url, version }])),
    scrubbed: new Map(scrubbed.map(({ node, audit: act }) => [node, act])),
    lastErasing: lastErasing(database),
  };
}

/** The number of the last act that erased something; 0 where there was none. */
function lastErasing(database: Connection): number {
  return lastAct(database, inArray(audit.act, erasingActs))?.number ?? 0;
}

/** What was counted longer ago says nothing of the balancer as it is now. */
const lookedAtMs = 2 * windowMs;

/**
 * The ids of keys that several nodes have counted in one minute, each with a limit of its own: a balancer should send a key
 * to one.
 */
function listSpreadKeys(database: Connection, nowMs: number): string[] {
  const since = Math.floor((nowMs - lookedAtMs) / windowMs);
  const counted = database.select().from(flushes).where(gte(flushes.minute, since)).all();
  const seen = new Set<string>();
  const spread = new Set<number>();
  for (const { minute, keys: told } of counted) {
    // As each server has written it.
    const numbers: readonly number[] = JSON.parse(told);
    for (const number of numbers) {
      const one = `${minute} ${number}`;
      if (seen.has(one)) spread.add(number);
      seen.add(one);
    }
  }
  const found = database
    .select({ id: keys.id })
    .from(keys)
    .where(inArray(keys.number, [...spread]))
    .all();
  return found.map(({ id }) => id);
}
