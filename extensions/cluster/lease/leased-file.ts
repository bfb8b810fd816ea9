/**
 * The file of the local node under a lease. The cluster is asked twice a second how far its nodes are, and each request checks
 * the file and the lease once before it reads.
 */
import { sql } from "drizzle-orm";
import { DatabaseUnavailable } from "../../../src/db/connection.ts";
import { type Member, openMembers } from "../members.ts";
import { handOverLeadership, query, type RqliteNode, reasonOf } from "../node.ts";
import type { NodeFile, Opening } from "../node-file.ts";
import type { Server } from "../tables.ts";
import { lastPosition, type Position, readPosition } from "../transaction.ts";
import { type Answers, clockMarginMs, createLease, type Lease, maxClockOffMs, type Question } from "./lease.ts";

const askEveryMs = 500;
/**
 * For half a second after a question that was answered, no other node can become the leader (`-raft-timeout`). A write that
 * another leader accepts later waits for a lease and the margin. So a lease from a question within this gap has ended when
 * the write returns.
 */
const maxGapMs = 500 + clockMarginMs;
/** The time between two looks at the local file while it lags behind the answers. */
const lookMs = 25;
const timeoutMs = 1_000;
/** The timeout for another node, which must not delay the next question. */
const otherTimeoutMs = 400;
/** The time between two lists of the members. */
const listEveryMs = 5_000;

/** Starts to keep a lease, and returns the file under it. */
export function openLeasedFile(file: NodeFile, node: RqliteNode, server: Server) {
  const lease = createLease({ monotonicMs: () => performance.now(), wallMs: Date.now });
  const { see, ...reads } = readUnderLease(file, lease, () => asking.refusal());
  const asking = keepLease(node, server, lease, { see, lastPosition: () => file.current().lastPosition() });
  return { ...reads, lease, answers: asking.answers, end: asking.end };
}

/** Returns the reads of a file under a lease. `refusal` gives the reason why there is no lease. */
export function readUnderLease(file: NodeFile, lease: Lease, refusal: () => string) {
  let seenVersion = Number.NaN;
  let seenOpening = 0;

  /** Makes a read. When it fails, the lease is lost, and the file is opened again. */
  const reading =
    <Asked extends unknown[], Answer>(work: (opening: Opening, ...asked: Asked) => Answer) =>
    (...asked: Asked): Answer => {
      try {
        return work(file.current(), ...asked);
      } catch (cause) {
        lease.end();
        file.fail();
        throw cause;
      }
    };

  // No opening has so many commits.
  const versionOf = (opening: Opening) => opening.number * 2 ** 32 + opening.serving().reader.version();

  /** Checks the file, updates the lease, and returns the version of the file. */
  const see = reading((opening) => {
    const version = versionOf(opening);
    if (version === seenVersion && !lease.hasNews()) return version;
    if (opening.number !== seenOpening) lease.end();
    lease.seen(opening);
    seenOpening = opening.number;
    seenVersion = version;
    // A commit in between may have brought the lease. What was cached before that commit must not be served any more.
    return versionOf(opening);
  });

  return {
    reading,
    see,
    /** Returns the version of the file. Throws DatabaseUnavailable without a lease. */
    version(): number {
      const version = see();
      if (!lease.isValid()) throw new DatabaseUnavailable(refusal(), "");
      return version;
    },
  };
}

/** The local file. `see` updates the lease with its state. Both throw while rqlite rebuilds it. */
interface SeenFile {
  see(): void;
  lastPosition(): Position | null;
}

/** Starts to ask twice a second, and keeps the lease with the answers. */
export function keepLease(node: RqliteNode, server: Server, lease: Lease, file: SeenFile) {
  const askCluster = openQuestions(node, server);
  let isOver = false;
  let failure: string | null = null;
  let answers: Answers | null = null;
  let last: Question | null = null;
  let lastAnswered: Question | null = null;

  async function ask(): Promise<void> {
    const question = lease.begin();
    // A leader that was paused may take the late answer to an old heartbeat for its majority, and answer with its state
    // before the pause. Through the log of the cluster, only the current leader gets an answer.
    const isContinuous = last !== null && lastAnswered === last && gapBetween(last, question) <= maxGapMs;
    last = question;
    try {
      answers = await askCluster(lastPositionOf(file), isContinuous ? "linearizable" : "strong");
      lastAnswered = question;
      lease.answered(question, answers);
      failure = null;
      await lookAt(file, lease, () => isOver);
      // The answers of a leader that lacks writes would hold up all other nodes.
      if (lease.lacksWrites() && answers.isLeader) await handOverLeadership(node);
    } catch (cause) {
      // There is no majority, or no local node: the lease runs out, and /healthz reports it.
      failure = reasonOf(cause);
    }
  }

  void ask();
  // A question that a lost leader does not answer must not delay the next one.
  const asking = setInterval(ask, askEveryMs);
  return {
    /** The last answers; null before the first ones. */
    answers: () => answers,
    /** The reason why there is no lease, for the log. */
    refusal: (): string => refusalOf(lease, answers?.clockOffMs ?? 0, failure),
    /** Stops asking. */
    end(): void {
      isOver = true;
      clearInterval(asking);
    },
  };
}

/** Returns null if it cannot be read: then no node can say whether it is ahead of the file. */
function lastPositionOf(file: SeenFile): Position | null {
  try {
    return file.lastPosition();
  } catch {
    return null;
  }
}

/** Looks at the file until it has caught up, or the next question does so. */
async function lookAt(file: SeenFile, lease: Lease, isOver: () => boolean): Promise<void> {
  for (const endMs = performance.now() + askEveryMs; !isOver() && performance.now() < endMs; await Bun.sleep(lookMs)) {
    try {
      file.see();
      if (!lease.isWaiting()) return;
    } catch {
      // The next look may succeed.
    }
  }
}

function gapBetween(before: Question, next: Question): number {
  return Math.max(next.monotonicMs - before.monotonicMs, Math.abs(next.wallMs - before.wallMs));
}

function refusalOf(lease: Lease, clockOffMs: number, failure: string | null): string {
  if (lease.lacksWrites()) return "this node lacks writes that the majority of its cluster has";
  if (Math.abs(clockOffMs) > maxClockOffMs) {
    return `the clock of this machine is ${Math.round(Math.abs(clockOffMs) / 1_000)} s off`;
  }
  if (failure === null) return "this node has not yet caught up with the majority of its cluster";
  return `this node has no answer from the majority of its cluster (${failure})`;
}

/** Opens the questions to the leader and to the other nodes with a vote, on behalf of a server. */
function openQuestions(node: RqliteNode, { name, process }: Server) {
  const list = openMembers(node);
  let members: readonly Member[] = [];
  let listedMs = Number.NEGATIVE_INFINITY;

  async function refresh(): Promise<void> {
    listedMs = performance.now();
    members = await list();
  }

  /** Asks all at once. Throws if the leader does not answer, or has not registered the process. */
  return async (own: Position | null, level: "strong" | "linearizable"): Promise<Answers> => {
    if (members.length === 0) await refresh();
    // The last list is good enough until the next try.
    else if (performance.now() - listedMs > listEveryMs) refresh().catch(() => {});
    const voters = members.filter(({ isVoter }) => isVoter);
    const [leader, ...states] = await Promise.all([
      // Only the answer of the leader counts for this process: its registration may not have reached the others yet.
      askPosition(node, own, timeoutMs, level, { name, process }),
      ...voters
        .filter((voter) => voter.name !== name)
        .map((voter) => askPosition(voter, own, otherTimeoutMs).catch(() => null)),
    ]);
    const others = states.filter((state) => state !== null);
    const all = [leader, ...others];
    return {
      revision: Math.max(...all.map((state) => state.revision)),
      voters: voters.length,
      isVoter: voters.some((voter) => voter.name === name),
      own,
      others,
      clockOffMs: medianOf([0, ...others.map((state) => state.clockOffMs)]),
      isLeader: members.some((member) => member.isLeader && member.name === name),
      lag: Math.max(0, Math.max(...all.map(({ last }) => last?.number ?? 0)) - (own?.number ?? 0)),
    };
  };
}

/** Asks a node how far it is. Throws if it does not answer, or if the server must not serve. */
export async function askPosition(
  node: RqliteNode,
  own: Position | null,
  withinMs: number,
  level: "strong" | "linearizable" | "none" = "none",
  server?: Server,
) {
  const sentMs = Date.now();
  const state = sql`SELECT json_array((SELECT coalesce(max(count), 0) FROM cluster_revision), ${sql.raw(lastPosition)},
    (SELECT chain FROM cluster_writes WHERE id = ${own?.id ?? ""}), unixepoch('subsec') * 1000)`;
  // There is no answer for a process that must not serve.
  const ifRegistered =
    server &&
    sql`WHERE EXISTS (SELECT 1 FROM cluster_nodes
      WHERE name = ${server.name} AND process = ${server.process} AND leaving = 0)`;
  const value = await query(node, sql`${state} ${ifRegistered}`, level, withinMs);
  if (typeof value !== "string") throw new Error("the cluster does not list this server");
  const [count, last, chainAtOwn, nowMs]: [number, unknown, number | null, number] = JSON.parse(value); // As asked for.
  return { revision: count, last: readPosition(last), chainAtOwn, clockOffMs: nowMs - (sentMs + Date.now()) / 2 };
}

/** The median, of an even number of values the one closer to 0. */
export function medianOf(values: readonly number[]): number {
  const sorted = values.toSorted((one, other) => one - other);
  const middle = [sorted[Math.floor((sorted.length - 1) / 2)] ?? 0, sorted[Math.floor(sorted.length / 2)] ?? 0];
  return middle.toSorted((one, other) => Math.abs(one) - Math.abs(other))[0] ?? 0;
}
