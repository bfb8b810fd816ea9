/** Sends transactions and questions to a cluster, again while it has no leader. */
import { sql } from "drizzle-orm";
import { DatabaseUnavailable } from "../../src/db/connection.ts";
import { adminCommand } from "../../src/program-name.ts";
import {
  ask,
  handOverLeadership,
  questionRequest,
  type RqliteNode,
  readValue,
  readWritten,
  type Statement,
  unreachableNode,
  writeRequest,
} from "./node/node.ts";
import { statementOf } from "./node/statement.ts";
import { isApplied, lastPosition, type Position, readPosition, transactionOf } from "./transaction.ts";

/**
 * A cluster that has lost its leader elects another one within two seconds, and a node that restarts is back soon. A command
 * that is in progress, such as an import, waits long for that. A command without any answer yet reports the problem sooner.
 */
export const patienceMs = { inProgress: 30_000, unanswered: 12_000, refused: 5_000 };
/** A write right after one that was given up, such as the record of an import that failed, is tried once. */
const givenUpForMs = 1_000;
const maxTimeoutMs = 10_000;
const retryPauseMs = 100;

/** The outcome of a transaction: the numbers of changed rows, null if they were lost; or why SQLite refused it. */
export type Outcome = { readonly changes: readonly number[] | null } | { readonly refusal: string };

/** Opens the way to a cluster. All of it throws DatabaseUnavailable if the cluster does not answer in time. */
export function openSending(node: RqliteNode) {
  let wasAnswered = false;
  let unansweredMs = Number.NEGATIVE_INFINITY;

  function patience(): Patience {
    if (performance.now() - unansweredMs < givenUpForMs) return { withinMs: 0, refusedMs: 0 };
    if (wasAnswered) return { withinMs: patienceMs.inProgress, refusedMs: patienceMs.inProgress };
    return { withinMs: patienceMs.unanswered, refusedMs: patienceMs.refused };
  }

  async function tryOnce(transaction: readonly Statement[], timeoutMs: number): Promise<Tried<Outcome>> {
    const answer = await ask(writeRequest(node, transaction, timeoutMs));
    const written = readWritten(answer);
    unansweredMs = written.kind === "unknown" ? performance.now() : Number.NEGATIVE_INFINITY;
    if (written.kind === "unknown") {
      // The other nodes have applied what the leader could not.
      if (written.isLeaderFault) await handOverLeadership(node);
      return { reason: written.reason, isSent: answer.isRefused !== true };
    }
    wasAnswered = true;
    if (written.kind === "done") return { result: { changes: written.changes } };
    return { result: isApplied(written.reason) ? { changes: null } : { refusal: written.reason } };
  }

  return {
    /** Sends a transaction until it is applied or refused. */
    transact: (id: string, statements: readonly Statement[], firstTimeoutMs: number): Promise<Outcome> =>
      retry<Outcome>(firstTimeoutMs, patience(), "write", (timeoutMs) =>
        tryOnce(transactionOf(id, statements), timeoutMs),
      ),
    /** The last transaction of the cluster; null if it has none. */
    lastPosition(firstTimeoutMs: number, withinMs: number | null): Promise<Position | null> {
      const within = withinMs === null ? patience() : { withinMs, refusedMs: withinMs };
      const question = statementOf(sql`SELECT ${lastPosition}`);
      return retry(firstTimeoutMs, within, "read", async (timeoutMs) => {
        const answer = await ask(questionRequest(node, question, "linearizable", timeoutMs));
        try {
          const result = readPosition(readValue(answer));
          wasAnswered = true;
          return { result };
        } catch (cause) {
          return { reason: cause instanceof Error ? cause.message : "unknown", isSent: answer.isRefused !== true };
        }
      });
    },
  };
}

interface Patience {
  readonly withinMs: number;
  /** The same if no rqlite node listens at the address, so that nothing was sent. */
  readonly refusedMs: number;
}

type Tried<Result> = { readonly result: Result } | { readonly reason: string; readonly isSent: boolean };

/** Tries until a try has a result, each time with a longer timeout. Throws a DatabaseUnavailable with the last reason. */
async function retry<Result>(
  firstMs: number,
  { withinMs, refusedMs }: Patience,
  what: "read" | "write",
  attempt: (timeoutMs: number) => Promise<Tried<Result>>,
): Promise<Result> {
  const startMs = performance.now();
  let wasSent = false;
  for (let timeoutMs = firstMs; ; timeoutMs = Math.min(maxTimeoutMs, timeoutMs * 1.5)) {
    const tried = await attempt(timeoutMs);
    if ("result" in tried) return tried.result;
    wasSent ||= tried.isSent;
    if (performance.now() - startMs > (wasSent ? withinMs : refusedMs)) throw gaveUp(tried.reason, what, wasSent);
    await Bun.sleep(retryPauseMs);
  }
}

function gaveUp(reason: string, what: "read" | "write", wasSent: boolean): DatabaseUnavailable {
  if (!wasSent) return unreachableNode(reason);
  if (what === "write") {
    return new DatabaseUnavailable(
      `The write timed out (${reason}) and may still be applied.`,
      `Run ${adminCommand} cluster status, then repeat the command.`,
    );
  }
  return new DatabaseUnavailable(
    `No majority of the cluster answers (${reason}), so nothing can be written.`,
    `Run ${adminCommand} cluster status to see which nodes are unreachable.`,
  );
}
