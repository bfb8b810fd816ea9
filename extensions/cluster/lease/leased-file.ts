/**
 * The file of the local node under a lease. The cluster is asked twice a second how far its nodes are, and each request checks
 * the file and the lease once before it reads.
 */
import { sql } from "drizzle-orm";
import { DatabaseUnavailable } from "../../../src/db/connection.ts";
import { type Member, openMembers } from "../members.ts";
import { handOverLeadership, query, type RqliteNode, reasonOf } from "../node.ts";
import type { NodeFile, Opening } from "../node-file.ts";
import { lastPosition, type Position } from "../transaction.ts";
import { type Answers, clockMarginMs, createLease, type Lease, type Question } from "./lease.ts";

const askEveryMs = 500;
/**
 * For half a second after a question that was answered, no other node can become the leader (`-raft-timeout`). A write that
 * another leader accepts later waits for a lease and the margin. So a lease from a question within this gap has ended when
 * the write returns.
 */
const maxGapMs = 500 + clockMarginMs;
const timeoutMs = 1_000;
/** The timeout for another node, which must not delay the next question. */
const otherTimeoutMs = 400;
/** The interval between reads of the member list. For each one, rqlite connects to every node. */
const listEveryMs = 5_000;

/** Starts to keep a lease, and returns the file under it. */
export function openLeasedFile(file: NodeFile, node: RqliteNode, process: string) {
  const lease = createLease(() => ({ monotonicMs: performance.now(), wallMs: Date.now() }));
  const reads = readUnderLease(file, lease);
  return { ...reads, lease, end: keepLease(node, process, lease, reads) };
}

/** Returns the reads of a file under a lease. */
export function readUnderLease(file: NodeFile, lease: Lease) {
  let seenVersion = Number.NaN;
  let seenOpening = 0;
  let seenAnswers = lease.answers();

  /** Makes a read. When it fails, the lease is lost, and the file is opened again. */
  const reading =
    <Asked extends unknown[], Answer>(work: (opening: Opening, ...asked: Asked) => Answer) =>
    (...asked: Asked): Answer => {
      try {
        return work(file.current(), ...asked);
      } catch (cause) {
        lease.end();
        file.release();
        throw cause;
      }
    };

  // No opening reaches 2 ** 32 commits, so versions are unique.
  const versionOf = (opening: Opening) => opening.number * 2 ** 32 + opening.serving().reader.version();

  /** Checks the file, updates the lease, and returns the version of the file. */
  const see = reading((opening) => {
    const version = versionOf(opening);
    if (version === seenVersion && lease.answers() === seenAnswers) return version;
    if (opening.number !== seenOpening) lease.end();
    lease.seen(opening);
    seenOpening = opening.number;
    seenVersion = version;
    seenAnswers = lease.answers();
    // A commit in between may have brought the lease. What was cached before that commit must not be served any more.
    return versionOf(opening);
  });

  return {
    reading,
    see,
    lastPosition: reading((opening) => opening.lastPosition()),
    /** Returns the version of the file. Throws DatabaseUnavailable without a lease. */
    version(): number {
      const version = see();
      if (!lease.isValid()) throw new DatabaseUnavailable(lease.refusal(), "");
      return version;
    },
  };
}

/** The local file. `see` updates the lease with its state. Both throw while rqlite rebuilds it. */
interface SeenFile {
  see(): void;
  lastPosition(): Position | null;
}

/** Starts to ask twice a second, and keeps the lease with the answers. Returns the function that stops it. */
export function keepLease(node: RqliteNode, process: string, lease: Lease, file: SeenFile): () => void {
  const askCluster = openQuestions(node, process);
  let isOver = false;
  let last: Question | null = null;
  let lastAnswered: Question | null = null;

  async function ask(): Promise<void> {
    const question = lease.begin();
    // A leader that was paused may take the late answer to an old heartbeat for its majority, and answer with its state
    // before the pause. Through the log of the cluster, only the current leader gets an answer.
    const isContinuous = last !== null && lastAnswered === last && gapBetween(last, question) <= maxGapMs;
    last = question;
    try {
      const answers = await askCluster(file.lastPosition(), isContinuous ? "linearizable" : "strong");
      if (isOver) return;
      lastAnswered = question;
      lease.answered(question, answers);
      // If the file lags behind these answers, the next request or question finds that it has caught up.
      file.see();
      // The answers of a leader that lacks writes would hold up all other nodes.
      if (lease.lacksWrites() && answers.isLeader) await handOverLeadership(node);
    } catch (cause) {
      // There is no majority, no local node, or no file: the lease runs out, and /healthz reports it.
      lease.failed(reasonOf(cause));
    }
  }

  void ask();
  // A question that a lost leader does not answer must not delay the next one.
  const asking = setInterval(ask, askEveryMs);
  return () => {
    isOver = true;
    clearInterval(asking);
  };
}

function gapBetween(before: Question, next: Question): number {
  return Math.max(next.monotonicMs - before.monotonicMs, Math.abs(next.wallMs - before.wallMs));
}

/** Opens the questions to the leader and to the other nodes with a vote, on behalf of the process that serves. */
function openQuestions(node: RqliteNode, process: string) {
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
    // If the refresh fails, the previous list is used until the next attempt.
    else if (performance.now() - listedMs > listEveryMs) refresh().catch(() => {});
    const voters = members.filter(({ isVoter }) => isVoter);
    const [leader, ...states] = await Promise.all([
      // Only the answer of the leader counts for this process: its registration may not have reached the others yet.
      askPosition(node, own, timeoutMs, level, process),
      ...voters
        .filter((voter) => voter.name !== node.name)
        // A voter that cannot be reached counts as one without an answer.
        .map((voter) => askPosition(voter, own, otherTimeoutMs).catch(() => null)),
    ]);
    const others = states.filter((state) => state !== null);
    const all = [leader, ...others];
    return {
      revision: Math.max(...all.map((state) => state.revision)),
      voters: voters.length,
      isVoter: voters.some((voter) => voter.name === node.name),
      own,
      others,
      clockOffMs: medianOf([0, ...others.map((state) => state.clockOffMs)]),
      isLeader: members.some((member) => member.isLeader && member.name === node.name),
      lag: Math.max(0, Math.max(...all.map(({ last }) => last?.number ?? 0)) - (own?.number ?? 0)),
    };
  };
}

/** The answer of a node, as it is asked for. */
type Answered = [revision: number, last: Position | null, chainAtOwn: number | null, nowMs: number];

/** Asks a node how far it is. Throws if it does not answer, or if the server must not serve. */
export async function askPosition(
  node: RqliteNode,
  own: Position | null,
  withinMs: number,
  level: "strong" | "linearizable" | "none" = "none",
  process?: string,
) {
  const sentMs = Date.now();
  const state = sql`SELECT json_array((SELECT coalesce(max(count), 0) FROM cluster_revision), json(${sql.raw(lastPosition)}),
    (SELECT chain FROM cluster_writes WHERE id = ${own?.id ?? ""}), unixepoch('subsec') * 1000)`;
  // There is no answer for a process that must not serve.
  const ifRegistered =
    process &&
    sql`WHERE EXISTS (SELECT 1 FROM cluster_nodes
      WHERE name = ${node.name} AND process = ${process} AND leaving = 0)`;
  const value = await query(node, sql`${state} ${ifRegistered}`, level, withinMs);
  if (typeof value !== "string") throw new Error("the cluster does not list this server");
  const [revision, last, chainAtOwn, nowMs]: Answered = JSON.parse(value); // The query selects this shape.
  return { revision, last, chainAtOwn, clockOffMs: nowMs - (sentMs + Date.now()) / 2 };
}

/** The median, of an even number of values the one closer to 0. */
export function medianOf(values: readonly number[]): number {
  const sorted = values.toSorted((one, other) => one - other);
  const middle = [sorted[Math.floor((sorted.length - 1) / 2)] ?? 0, sorted[Math.floor(sorted.length / 2)] ?? 0];
  return middle.toSorted((one, other) => Math.abs(one) - Math.abs(other))[0] ?? 0;
}
