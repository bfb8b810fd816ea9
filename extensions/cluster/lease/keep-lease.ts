/** Asks the cluster twice a second how far it is, and keeps the lease of this server with the answers. */
import { handOverLeadership, type RqliteNode } from "../node/node.ts";
import type { Position } from "../transaction.ts";
import { clockMarginMs, type Lease, maxClockOffMs, type Question } from "./lease.ts";
import { type Holder, type LeaseReport, openQuestions } from "./questions.ts";

const askEveryMs = 500;
/**
 * For half a second after a question that was answered, no other node can become the leader (`-raft-timeout`). A write that
 * another leader accepts later waits for a lease and the margin. So a lease from a question within this gap has ended when
 * the write returns.
 */
const maxGapMs = 500 + clockMarginMs;
/** The time between two looks at the own file while it lags behind the answers. */
const lookMs = 25;

/** What this node reads of its own file. */
interface OwnFile {
  /** Tells the lease what the file shows. */
  readonly see: () => void;
  readonly lastPosition: () => Position | null;
}

function gapBetween(before: Question, next: Question): number {
  return Math.max(next.monotonicMs - before.monotonicMs, Math.abs(next.wallMs - before.wallMs));
}

/** Starts to ask. */
export function keepLease(node: RqliteNode, holder: Holder, lease: Lease, file: OwnFile) {
  const askCluster = openQuestions(node, holder);
  const levelOf = openLevels();
  let isOver = false;
  let failure: string | null = null;
  let report: LeaseReport = { voters: 0, reachable: 0, isLeader: false, clockOffMs: 0, lag: 0 };

  async function askOnce(): Promise<void> {
    const question = lease.begin();
    const level = levelOf(question);
    try {
      const answer = await askCluster(ownPosition(), level.kind);
      level.answered();
      report = answer.report;
      lease.answered(question, answer.heard);
      failure = null;
      await look();
      // The answers of a leader that lacks writes would hold up all others.
      if (lease.lacksWrites() && report.isLeader) await handOverLeadership(node);
    } catch (cause) {
      // There is no majority, or no local node: the lease runs out, and /healthz reports it.
      failure = cause instanceof Error ? cause.message : "unknown";
    }
  }

  function ownPosition(): Position | null {
    try {
      return file.lastPosition();
    } catch {
      return null;
    }
  }

  /** Looks until the next question at most, which looks again. */
  async function look(): Promise<void> {
    for (const endMs = performance.now() + askEveryMs; !isOver && performance.now() < endMs; await Bun.sleep(lookMs)) {
      try {
        file.see();
        if (!lease.isWaiting()) return;
      } catch {
        // rqlite is rebuilding the file.
      }
    }
  }

  void askOnce();
  // A question that a lost leader does not answer must not delay the next one.
  const asking = setInterval(askOnce, askEveryMs);
  return {
    report: (): LeaseReport => report,
    /** The reason why there is no lease, for the log. */
    refusal: (): string => refusalOf(lease, report, failure),
    /** Stops asking. */
    end(): void {
      isOver = true;
      clearInterval(asking);
    },
  };
}

function refusalOf(lease: Lease, { clockOffMs }: LeaseReport, failure: string | null): string {
  if (lease.lacksWrites()) return "this node lacks writes that the majority of its cluster has";
  if (Math.abs(clockOffMs) > maxClockOffMs) return `the clock of this machine is ${seconds(clockOffMs)} off`;
  if (failure === null) return "this node has not yet caught up with the majority of its cluster";
  return `this node has no answer from the majority of its cluster (${failure})`;
}

function seconds(ms: number): string {
  return `${Math.round(Math.abs(ms) / 1_000)} s`;
}

/**
 * Chooses how a question is answered. A leader that was paused may take the late answer to an old heartbeat for its majority,
 * and answer with its state before the pause. So the question after a gap goes through the log, where only the current leader
 * gets an answer.
 */
function openLevels() {
  let last: Question | null = null;
  let answered: Question | null = null;
  return (question: Question) => {
    const continues = last !== null && answered === last && gapBetween(last, question) <= maxGapMs;
    last = question;
    const kind: "linearizable" | "strong" = continues ? "linearizable" : "strong";
    const noteAnswer = () => {
      answered = question;
    };
    return { kind, answered: noteAnswer };
  };
}
