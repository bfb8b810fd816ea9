/** Asks the majority of the cluster twice a second, and compares its answer with the own file. */
import { sql } from "drizzle-orm";
import { nodes, revision } from "../../../src/db/schema.ts";
import { lastWrite, readLastWrite } from "../last-write.ts";
import { ask, type NodeAnswer, questionRequest, type RqliteNode, readValue, type Statement } from "../node/node.ts";
import { statementOf } from "../node/statement.ts";
import { clockMarginMs, type Heard, type Lease, type Question } from "./lease.ts";

const askEveryMs = 500;
const timeoutMs = 1_000;
/**
 * For half a second after a question that was answered, no other leader can begin (`-raft-timeout`). A write that another
 * one takes later waits for a lease and the margin. So a lease from a question within this gap is over when it returns.
 */
const longestGapMs = 500 + clockMarginMs;
/** Between two looks at the own file while it lags behind the answer. */
const lookMs = 25;

const howFar = sql`json_array((SELECT coalesce(max(count), 0) FROM ${revision}), (${lastWrite}))`;

/** How far the cluster is, for a server by its name: no answer where the cluster does not know it, or lets it go. */
export function serverQuestion(name: string): Statement {
  return statementOf(sql`SELECT ${howFar} FROM ${nodes} WHERE name = ${name} AND leaving = 0`);
}

/** The same for what stands beside a server: no answer where the cluster lets it go. */
export function companionQuestion(name: string): Statement {
  const leaving = sql`SELECT 1 FROM ${nodes} WHERE name = ${name} AND leaving = 1`;
  return statementOf(sql`SELECT ${howFar} WHERE NOT EXISTS (${leaving})`);
}

/** Throws where a node has not answered how far the cluster is. */
function readHeard(answer: NodeAnswer): Heard {
  const value = readValue(answer);
  if (typeof value !== "string") throw new Error("the node does not say how far the cluster is");
  // As the question has it.
  const [count, last]: [number, string | null] = JSON.parse(value);
  return { count, lastWrite: readLastWrite(last) };
}

function gapBetween(before: Question, question: Question): number {
  return Math.max(question.monotonicMs - before.monotonicMs, Math.abs(question.wallMs - before.wallMs));
}

/** Begins to ask; `see` tells the lease what the own file shows. */
export function keepLease(node: RqliteNode, own: Statement, lease: Lease, see: () => void) {
  let isOver = false;
  let failure: string | null = null;
  let last: Question | null = null;
  let answered: Question | null = null;

  /**
   * A leader that stood still may take the late answer to an old heartbeat for its majority, and tell what was so before it
   * stood still. So the question behind a gap goes through the log, where only the leader of today gets an answer.
   */
  function levelOf(question: Question): "strong" | "linearizable" {
    const goesOn = last !== null && answered === last && gapBetween(last, question) <= longestGapMs;
    return goesOn ? "linearizable" : "strong";
  }

  async function askOnce(): Promise<void> {
    const question = lease.begin();
    const level = levelOf(question);
    last = question;
    try {
      const answer = await ask(questionRequest(node, own, level, timeoutMs));
      lease.answered(question, readHeard(answer));
      answered = question;
      failure = null;
      await look();
    } catch (cause) {
      // No majority, or a node that is not there: the lease runs out, and /healthz says so.
      failure = cause instanceof Error ? cause.message : "unknown";
    }
  }

  /** Until the next question at most, which looks again. */
  async function look(): Promise<void> {
    for (const endMs = performance.now() + askEveryMs; !isOver && performance.now() < endMs; await Bun.sleep(lookMs)) {
      try {
        see();
        if (!lease.isWaiting()) return;
      } catch {
        // The node is at work on its file.
      }
    }
  }

  void askOnce();
  // A question that a lost leader leaves without an answer keeps no other one waiting.
  const asking = setInterval(askOnce, askEveryMs);
  return {
    /** Why there is no lease, for the log. */
    refusal: (): string =>
      failure === null
        ? "this node has not yet all that the majority of its cluster has"
        : `this node has not heard from the majority of its cluster (${failure})`,
    /** Asks no more. */
    end(): void {
      isOver = true;
      clearInterval(asking);
    },
  };
}
