/** The questions of a server to its cluster: how far the leader and the other nodes with a vote are. */
import { sql } from "drizzle-orm";
import { listMembers, type Member } from "../node/members.ts";
import { ask, type NodeAnswer, questionRequest, type RqliteNode, readValue, type Statement } from "../node/node.ts";
import { statementOf } from "../node/statement.ts";
import { nodes, revision, writes } from "../tables.ts";
import { lastPosition, type Position, readPosition } from "../transaction.ts";
import type { Heard, VoterAnswer } from "./lease.ts";

const timeoutMs = 1_000;
/** The timeout for a node that did not answer the question before: it must not delay the lease. */
const unreachableTimeoutMs = 200;
/** The time between two lists of the members. */
const listEveryMs = 5_000;

type Level = "strong" | "linearizable" | "none";

/** A process that serves under a lease, by the name of its node. `process` is null for one next to the server. */
export interface Holder {
  readonly name: string;
  readonly process: string | null;
}

/** The state of the cluster for the log and the metrics. */
export interface LeaseReport {
  readonly voters: number;
  readonly reachable: number;
  readonly isLeader: boolean;
  readonly clockOffMs: number;
  /** The number of transactions that the file lacks. */
  readonly lag: number;
}

/** The state of one node as JSON. No row if this process must not serve. */
function question({ name, process }: Holder, own: Position | null): Statement {
  const leaving = sql`SELECT 1 FROM ${nodes} WHERE name = ${name} AND leaving = 1`;
  const registered = sql`SELECT 1 FROM ${nodes} WHERE name = ${name} AND process = ${process} AND leaving = 0`;
  const state = sql`json_array((SELECT coalesce(max(count), 0) FROM ${revision}), ${lastPosition},
    (SELECT chain FROM ${writes} WHERE id = ${own?.id ?? ""}), unixepoch('subsec') * 1000)`;
  return statementOf(
    sql`SELECT ${state} WHERE ${process === null ? sql`NOT EXISTS (${leaving})` : sql`EXISTS (${registered})`}`,
  );
}

interface NodeState extends VoterAnswer {
  readonly revision: number;
  readonly clockOffMs: number;
}

/** Reads the answer to `question`. Throws if there is none. */
function readState(answer: NodeAnswer, sentMs: number, receivedMs: number): NodeState {
  const value = readValue(answer);
  if (typeof value !== "string") throw new Error("the cluster does not list this server");
  const [count, last, chainAtOwn, nowMs]: [number, unknown, number | null, number] = JSON.parse(value); // As asked for.
  const clockOffMs = nowMs - (sentMs + receivedMs) / 2;
  return { revision: count, last: readPosition(last), chainAtOwn, clockOffMs };
}

async function stateOf(node: RqliteNode, asked: Statement, level: Level, ms: number) {
  const sentMs = Date.now();
  const answer = await ask(questionRequest(node, asked, level, ms));
  return readState(answer, sentMs, Date.now());
}

/** Asks the cluster on behalf of a process. */
export function openQuestions(node: RqliteNode, holder: Holder) {
  let members: readonly Member[] = [];
  let listedMs = Number.NEGATIVE_INFINITY;
  const unreachable = new Set<string>();

  async function list(): Promise<void> {
    listedMs = performance.now();
    const listed = await listMembers(node);
    // rqlite does not give the address of a node that it cannot reach at the moment.
    const known = new Map(members.map((member) => [member.name, member.url]));
    members = listed.map((one) => ({ ...one, url: one.isReachable ? one.url : (known.get(one.name) ?? one.url) }));
  }

  async function askMember(member: Member, asked: Statement): Promise<NodeState | null> {
    try {
      const state = await stateOf(
        member,
        asked,
        "none",
        unreachable.has(member.name) ? unreachableTimeoutMs : timeoutMs,
      );
      unreachable.delete(member.name);
      return state;
    } catch {
      unreachable.add(member.name);
      return null;
    }
  }

  /** Asks the leader and all others at once. Throws if the leader does not answer, or has not registered the process. */
  return async (own: Position | null, level: Level): Promise<{ heard: Heard; report: LeaseReport }> => {
    if (members.length === 0) await list();
    else if (performance.now() - listedMs > listEveryMs) list().catch(() => {});
    const others = members.filter(({ isVoter, name }) => isVoter && name !== holder.name);
    // Only the leader decides whether this process may serve: the others may not have heard of it yet.
    const fromOthers = question({ name: holder.name, process: null }, own);
    const [leader, ...states] = await Promise.all([
      stateOf(node, question(holder, own), level, timeoutMs),
      ...others.map((member) => askMember(member, fromOthers)),
    ]);
    return summarize(
      holder,
      members,
      own,
      leader,
      states.filter((state) => state !== null),
    );
  };
}

function summarize(
  { name }: Holder,
  members: readonly Member[],
  own: Position | null,
  leader: NodeState,
  others: readonly NodeState[],
): { heard: Heard; report: LeaseReport } {
  const voters = members.filter(({ isVoter }) => isVoter);
  const isVoter = voters.some((voter) => voter.name === name);
  const clockOffMs = medianOf([0, ...others.map((state) => state.clockOffMs)]);
  const all = [leader, ...others];
  const newest = Math.max(...all.map(({ last }) => last?.number ?? 0));
  return {
    heard: {
      revision: Math.max(...all.map((state) => state.revision)),
      voters: voters.length,
      isVoter,
      own,
      others,
      clockOffMs,
    },
    report: {
      voters: voters.length,
      reachable: others.length + (isVoter ? 1 : 0),
      isLeader: members.some((member) => member.isLeader && member.name === name),
      clockOffMs,
      lag: Math.max(0, newest - (own?.number ?? 0)),
    },
  };
}

/** The median, of an even number of values the one closer to 0. */
export function medianOf(values: readonly number[]): number {
  const sorted = values.toSorted((one, other) => one - other);
  const middle = [sorted[Math.floor((sorted.length - 1) / 2)] ?? 0, sorted[Math.floor(sorted.length / 2)] ?? 0];
  return middle.toSorted((one, other) => Math.abs(one) - Math.abs(other))[0] ?? 0;
}
