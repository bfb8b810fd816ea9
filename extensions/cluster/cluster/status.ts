/** The status of a cluster: what its nodes report, and whether their servers answer. */
import { gte, inArray, sql } from "drizzle-orm";
import { windowMs } from "../../../src/contract/limits.ts";
import { publicPaths } from "../../../src/contract/paths.ts";
import { lastAct } from "../../../src/db/audit.ts";
import type { Connection } from "../../../src/db/connection.ts";
import { type Act, audit, keys } from "../../../src/db/schema.ts";
import { medianOf } from "../lease/questions.ts";
import { listMembers, type Member } from "../node/members.ts";
import { ask, questionRequest, type RqliteNode, readValue } from "../node/node.ts";
import { type NodeState, stateOf } from "../node/state.ts";
import { statementOf } from "../node/statement.ts";
import { flushes, nodes, scrubs, writes } from "../tables.ts";
import { lastPosition, type Position, readPosition } from "../transaction.ts";

const timeoutMs = 3_000;
/** Acts after which a log holds residual bytes. */
const erasingActs: readonly Act[] = ["lead.erase", "retain.erase", "import.undo", "account.delete"];
/** A clock that is further off than this is reported. */
export const reportedClockOffMs = 2_000;

export interface ClusterStatus {
  readonly nodes: readonly NodeStatus[];
  /** Whether more than half of the nodes with a vote are reachable. */
  readonly hasMajority: boolean;
  /** IDs of keys that several nodes counted in one minute, so that each of them had more than one limit. */
  readonly spreadKeys: readonly string[];
}

export interface NodeStatus {
  readonly name: string;
  readonly role: "leader" | "follower" | "reader";
  readonly url: string;
  readonly isReachable: boolean;
  /** Entries of the Raft log that it has not applied yet; null if it did not report it. */
  readonly lag: number | null;
  /** The version of rqlite. */
  readonly version: string | null;
  /** The size of its log in bytes, including free pages. */
  readonly logBytes: number | null;
  /** Flags that it should have been started with, as far as it reports them. */
  readonly wrongFlags: readonly string[];
  /** Whether it lacks some of what was written, as after a full disk. */
  readonly lacksWrites: boolean;
  /** How far its clock is ahead of that of the majority. */
  readonly clockOffMs: number | null;
  /** Whether its log holds no residual bytes. */
  readonly isScrubbed: boolean;
  /** Its server; null if none was ever registered. */
  readonly server: { readonly url: string; readonly version: string; readonly serves: boolean } | null;
}

/** Asks all nodes and servers at once. Throws DatabaseUnavailable if the local node does not answer. */
export async function askCluster(node: RqliteNode, database: Connection, nowMs: number): Promise<ClusterStatus> {
  const members = await listMembers(node);
  const [states, samples] = await Promise.all([Promise.all(members.map(stateOf)), Promise.all(members.map(askSample))]);
  const newest = Math.max(0, ...states.flatMap((state) => state?.store?.raft?.commit_index ?? []));
  const lacking = await findLacking(members, samples);
  const medianMs = medianOf(samples.flatMap((sample) => sample?.clockMs ?? []));
  const kept = readKept(database);
  const statuses = await Promise.all(
    members.map(async (member, place): Promise<NodeStatus> => {
      const server = kept.servers.get(member.name) ?? null;
      const clockMs = samples[place]?.clockMs;
      return {
        name: member.name,
        role: member.isLeader ? "leader" : member.isVoter ? "follower" : "reader",
        url: member.url,
        ...reportedBy(states[place] ?? null, newest),
        lacksWrites: lacking.has(member.name),
        clockOffMs: clockMs === undefined ? null : Math.round(clockMs - medianMs),
        isScrubbed: (kept.scrubbed.get(member.name) ?? 0) >= kept.lastErasing,
        server: server === null ? null : { ...server, serves: await serves(server.url) },
      };
    }),
  );
  const voters = statuses.filter(({ role }) => role !== "reader");
  const hasMajority = voters.filter(({ isReachable }) => isReachable).length * 2 > voters.length;
  return { nodes: statuses, hasMajority, spreadKeys: listSpreadKeys(database, nowMs) };
}

/** What a node reports about itself, which has applied the log up to some entry. */
function reportedBy(state: NodeState | null, newest: number) {
  const raft = state?.store?.raft;
  return {
    isReachable: state !== null,
    lag: raft?.applied_index === undefined ? null : Math.max(0, newest - raft.applied_index),
    version: state?.build?.version ?? null,
    logBytes: raft?.log_size ?? null,
    wrongFlags: wrongFlagsOf(state),
  };
}

interface Sample {
  readonly last: Position | null;
  /** The clock of the node, relative to that of this machine. */
  readonly clockMs: number;
}

/** Asks a node for its own last transaction and its clock; null if it does not answer, or has no tables yet. */
async function askSample(member: Member): Promise<Sample | null> {
  const sentMs = Date.now();
  const value = await askValue(
    member,
    statementOf(sql`SELECT json_array(${lastPosition}, unixepoch('subsec') * 1000)`),
  );
  if (value === null) return null;
  const [last, clockMs]: [unknown, number] = JSON.parse(value); // As asked for.
  return { last: readPosition(last), clockMs: clockMs - (sentMs + Date.now()) / 2 };
}

async function askValue(member: Member, question: ReturnType<typeof statementOf>): Promise<string | null> {
  try {
    const value = readValue(await ask(questionRequest(member, question, "none", timeoutMs)));
    return typeof value === "string" ? value : null;
  } catch {
    return null;
  }
}

/**
 * The names of nodes that lack transactions: their chains differ from those of more nodes than they agree with. Between two
 * nodes alone, the one that has fewer transactions lacks some.
 */
async function findLacking(members: readonly Member[], samples: readonly (Sample | null)[]): Promise<Set<string>> {
  const lasts = samples.flatMap((sample) => sample?.last ?? []);
  const ids = JSON.stringify(lasts.map(({ id }) => id));
  const question = statementOf(
    sql`SELECT json_group_object(id, json_array(chain, number)) FROM ${writes} WHERE id IN (SELECT value FROM json_each(${ids}))`,
  );
  const shown = await Promise.all(
    members.map(async (member) => {
      const value = await askValue(member, question);
      const chains: Record<string, [chain: number, number: number]> = JSON.parse(value ?? "{}"); // As asked for.
      return { name: member.name, chains };
    }),
  );
  type Shown = (typeof shown)[number];
  const compared = (one: Shown, other: Shown) =>
    Object.keys(one.chains).flatMap((id) => {
      const [own, theirs] = [one.chains[id], other.chains[id]];
      return own === undefined || theirs === undefined ? [] : [{ own, theirs, agrees: own[0] === theirs[0] }];
    });
  const agreeing = (one: Shown) => shown.filter((other) => compared(one, other).some(({ agrees }) => agrees)).length;
  const lacks = (one: Shown) =>
    shown.some((other) =>
      compared(one, other).some(({ own, theirs, agrees }) => {
        const [ownSide, otherSide] = [agreeing(one), agreeing(other)];
        return !agrees && (ownSide < otherSide || (ownSide === otherSide && own[1] < theirs[1]));
      }),
    );
  return new Set(shown.filter(lacks).map(({ name }) => name));
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
    lastErasing: lastAct(database, inArray(audit.act, erasingActs))?.number ?? 0,
  };
}

/** Counts from earlier say nothing about the current configuration of the balancer. */
const spreadWithinMs = 2 * windowMs;

function listSpreadKeys(database: Connection, nowMs: number): string[] {
  const since = Math.floor((nowMs - spreadWithinMs) / windowMs);
  const counted = database.select().from(flushes).where(gte(flushes.minute, since)).all();
  const seen = new Set<string>();
  const spread = new Set<number>();
  for (const { minute, keys: text } of counted) {
    const numbers: readonly number[] = JSON.parse(text); // As each server has written it.
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
