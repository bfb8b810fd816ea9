/**
 * The file of the local node under a lease. The cluster is asked twice a second how far its nodes are, and each request checks
 * the file and the lease once before it reads.
 */
import { DatabaseUnavailable } from "../../../src/db/connection.ts";
import { type Clocks, createMajorityClock, timeBetween } from "../clock.ts";
import { handOverLeadership, type RqliteNode, reasonOf } from "../node.ts";
import type { NodeFile, Opening } from "../node-file.ts";
import { clockMarginMs, createLease, type Lease } from "./lease.ts";
import { openQuestions } from "./questions.ts";

const askEveryMs = 500;
/**
 * For half a second after a question that was answered, no other node can become the leader (`-raft-timeout`). A write that
 * another leader accepts later waits for a lease and the margin. So a lease from a question within this gap has ended when
 * the write returns.
 */
const maxGapMs = 500 + clockMarginMs;

/** Starts to keep a lease, and returns the file under it. */
export function openLeasedFile(file: NodeFile, node: RqliteNode, process: string) {
  const [lease, clock] = [createLease(), createMajorityClock()];
  const reads = readUnderLease(file, lease);
  function see(): void {
    clock.correct(lease.answers());
    reads.see();
  }
  return { ...reads, lease, now: clock.now, end: keepLease(node, process, lease, see) };
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
    /** Returns the version of the file. Throws DatabaseUnavailable without a lease. */
    version(): number {
      const version = see();
      if (!lease.isValid()) throw new DatabaseUnavailable(lease.refusal(), "");
      return version;
    },
  };
}

/**
 * Starts asking twice a second, and renews the lease with the answers. `see` updates the lease with the state of the file.
 * Returns the function that stops it.
 */
export function keepLease(node: RqliteNode, process: string, lease: Lease, see: () => void): () => void {
  const questions = openQuestions(node, process);
  let isOver = false;
  let last: Clocks | null = null;
  let lastAnswered: Clocks | null = null;
  let answeredMs = performance.now();

  async function ask(): Promise<void> {
    const question = lease.begin();
    // A leader that was paused may take the late answer to an old heartbeat for its majority, and answer with its state
    // before the pause. Through the log of the cluster, only the current leader gets an answer.
    const isContinuous = last !== null && lastAnswered === last && timeBetween(last, question) <= maxGapMs;
    last = question;
    try {
      const answers = await questions.ask(isContinuous ? "linearizable" : "strong");
      if (isOver) return;
      lastAnswered = question;
      answeredMs = performance.now();
      lease.answered(question, answers);
      // If the file lags behind these answers, the next request or question finds that it has caught up.
      see();
      // The answers of a leader that lacks writes would hold up all other nodes.
      if (lease.lacksWrites() && answers.isLeader) await handOverLeadership(node);
    } catch (cause) {
      // There is no majority, no local node, or no file: the lease runs out, and /healthz reports it.
      lease.failed(reasonOf(cause));
    }
  }

  void ask();
  // A question that a lost leader does not answer must not delay the next one.
  const asking = setInterval(() => {
    void questions.watchLeader(performance.now() - answeredMs);
    void ask();
  }, askEveryMs);
  return () => {
    isOver = true;
    clearInterval(asking);
  };
}
