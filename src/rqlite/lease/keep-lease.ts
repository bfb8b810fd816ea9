/** Asks the majority of the cluster twice a second, and compares its answer with the own file. */
import { sql } from "drizzle-orm";
import { nodes, revision } from "../../sqlite/schema.ts";
import { ask, questionRequest, type RqliteNode, readNumber, type Statement } from "../node/node.ts";
import { statementOf } from "../node/statement.ts";
import type { Lease } from "./lease.ts";

const askEveryMs = 500;
const timeoutMs = 1_000;
/** Between two looks at the own file while it lags behind the answer. */
const lookMs = 25;

/** The count of the revision, in SQL that a node can be asked. */
export const revisionQuestion = statementOf(sql`SELECT coalesce(max(count), 0) FROM ${revision}`);

/** The same for a server by its name: no number where the cluster does not know it, or lets it go. */
function leaseQuestion(name: string): Statement {
  return statementOf(
    sql`SELECT (SELECT coalesce(max(count), 0) FROM ${revision}) FROM ${nodes} WHERE name = ${name} AND leaving = 0`,
  );
}

/** Begins to ask; `see` tells the lease what the own file shows. What it returns ends it. */
export function keepLease(node: RqliteNode, name: string, lease: Lease, see: () => void): () => void {
  const own = leaseQuestion(name);
  let isOver = false;

  async function askOnce(): Promise<void> {
    const question = lease.begin();
    try {
      const answer = await ask(questionRequest(node, own, "linearizable", timeoutMs));
      lease.answered(question, readNumber(answer));
      await look();
    } catch {
      // No majority, or a node that is not there: the lease runs out, and /healthz says so.
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
  return () => {
    isOver = true;
    clearInterval(asking);
  };
}
