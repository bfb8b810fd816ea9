/**
 * The database of a cluster: reads go to the file of the local rqlite node, writes to the cluster. A write is done when the
 * local file shows it.
 */
import { sql } from "drizzle-orm";
import {
  DatabaseUnavailable,
  type LeadDatabase,
  type NextBatch,
  type Statement,
  tryToWrite,
  WriteRefused,
  type WriteScope,
} from "../../src/db/connection.ts";
import { nextSize } from "../../src/db/steps.ts";
import { adminCommand } from "../../src/runtime/program-name.ts";
import { createMajorityClock } from "./clock.ts";
import { type Answers, clockMarginMs, leaseMs, maxClockOffMs } from "./lease/lease.ts";
import { ask } from "./lease/questions.ts";
import { listMembers, type Member, withinDistance } from "./members.ts";
import { execute, NoAnswer, query, type RqliteNode } from "./node.ts";
import type { NodeFile } from "./node-file.ts";
import { askPosition, incrementRevision, listServers, transactionId, transactionOf } from "./transactions.ts";

export type ClusterDatabase = ReturnType<typeof openClusterDatabase>;

const behind = "The local rqlite node has not caught up with the cluster.";
const notShown = "The write is applied, but the local rqlite node has not caught up with it.";

/** The time limit for reaching a node, so that an unreachable one does not delay every command. */
const reachWithinMs = 300;
const measureEveryMs = 10_000;
/** The limits of the number of leads in a batch, and the durations between which the number stays the same. */
const steps = { min: 200, max: 4_000, shortMs: 60, longMs: 150 };

/** Applies transactions, and brings the local file up to those of others. */
function openTransactions(file: NodeFile, node: RqliteNode) {
  const retry = createRetry();
  const clock = createMajorityClock();
  let askedMs = Number.NEGATIVE_INFINITY;
  const isShown = (id: string) => file.current().chainOf(id) !== undefined;

  async function askMajority(timeoutMs: number): Promise<Answers> {
    askedMs = performance.now();
    const members = await listMembers(node, reachWithinMs);
    const answers = await ask(node, members, { level: "linearizable", withinMs: timeoutMs });
    clock.correct(answers);
    return answers;
  }

  /** Returns the time of the majority. A process that runs for long, such as one that sends alerts, measures it again. */
  function now(): number {
    if (performance.now() - askedMs > measureEveryMs) askMajority(firstTimeoutMs).catch(() => {});
    return clock.now();
  }

  async function catchUp(withinMs?: number): Promise<void> {
    const { leading, clockOffMs } = await retry("read", askMajority, withinMs);
    refuseWrongClock(clockOffMs);
    if (leading === null) return;
    // A command that does not depend on it, such as doctor, must not wait long for a node that is behind.
    const shownMs = withinMs === undefined ? patienceMs.inProgress : patienceMs.behind;
    if ((await untilShown(file, leading.id, behind, shownMs)) === leading.chain) return;
    throw new NotTrusted(
      "The local rqlite node and the leader of the cluster differ: one of them lacks writes, as after a full disk.",
      `Run ${adminCommand} cluster status to see which one, and then ${adminCommand} cluster rejoin on its machine.`,
    );
  }

  /** Resolves when the local file shows the transaction. Throws like `write`. Can be repeated with the same ID. */
  async function apply(id: string, statements: readonly Statement[], withinMs?: number): Promise<void> {
    const transaction = transactionOf(id, statements);
    try {
      await retry("write", (ms) => execute(node, transaction, withinDistance(node, ms)), withinMs);
    } catch (cause) {
      if (!(cause instanceof WriteRefused)) throw cause;
      // Either the transaction was applied before and the answer was lost, or a leader that lacks writes has refused a
      // transaction that other nodes have.
      await catchUp();
      if (!isShown(id)) throw cause;
    }
    await untilShown(file, id, notShown, withinMs ?? patienceMs.inProgress);
  }

  return { catchUp, apply, isShown, now };
}

/** Opens the database of a node. `onUnreachable` is called with the nodes that did not confirm a write in time. */
export function openClusterDatabase(file: NodeFile, node: RqliteNode, onUnreachable = (_: readonly string[]) => {}) {
  const transactions = openTransactions(file, node);

  async function writeEverywhere(statements: readonly Statement[]): Promise<void> {
    const id = transactionId();
    // Requested now, because a node that hangs delays the list. If this fails, it is requested again after the write.
    const listing = listMembers(node, reachWithinMs).catch(() => null);
    await transactions.apply(id, [...statements, incrementRevision]);
    const members = (await listing) ?? (await listMembers(node));
    // A server without a row yet asks the majority after the write.
    const unreachable = await waitForAll(node, id, members, [...members, ...listServers(file.current().connection)]);
    if (unreachable.length > 0) onUnreachable(unreachable);
  }

  return {
    path: file.path,
    node,
    file,
    ...transactions,
    get read() {
      return file.current().connection;
    },
    async write(statements: readonly Statement[], scope: WriteScope = "local"): Promise<void> {
      if (scope === "everywhere") await writeEverywhere(statements);
      else await transactions.apply(transactionId(), statements);
    },
    writeBatches(next: NextBatch) {
      return writeBatches(this, next);
    },
    async removeResidualBytes() {
      // Nothing erased is served any more, but the logs of all nodes hold it until they are scrubbed.
      await transactions.apply(transactionId(), [sql`DELETE FROM residues`]);
      return (await listMembers(node)).map(({ name }) => name);
    },
    close: () => file.release(),
  };
}

/**
 * Writes batch after batch. Other programs may write between two batches; a batch that is outdated by such a write is built
 * again.
 */
async function* writeBatches(database: LeadDatabase, next: NextBatch): AsyncGenerator<number, number> {
  let [leads, fromMs, size] = [0, Number.MIN_SAFE_INTEGER, steps.min];
  for (;;) {
    const startedMs = performance.now();
    const batch = next(database.read, fromMs, size);
    if (batch === null) return leads;
    if (!(await tryToWrite(database, batch.statements))) continue;
    fromMs = batch.lastMs;
    const tookMs = performance.now() - startedMs;
    size = nextSize(size, tookMs, steps);
    yield (leads += batch.leads);
    // Lets other programs write.
    await Bun.sleep(tookMs / 4);
  }
}

/** The pause between two rounds of questions. */
const pauseMs = 5;
/** The timeout of a question, to which withinDistance adds the round trips. A node that hangs delays each round by this. */
const nodeTimeoutMs = 1_000;
/** A majority that has received a write applies it sooner, unless the disks of several nodes are full. */
const maxApplyMs = 30_000;

/**
 * Waits until each of some nodes shows a transaction. For an unreachable node, waits until every lease has ended that began
 * before a majority showed the transaction. Returns the names of the nodes that do not show it.
 */
async function waitForAll(
  node: RqliteNode,
  id: string,
  listed: readonly Member[],
  some: readonly { readonly name: string }[],
  withinMs = maxApplyMs,
): Promise<string[]> {
  const question = sql`SELECT count(*) FROM cluster_writes WHERE id = ${id}`;
  const voters = listed.filter(({ isVoter }) => isVoter).map(({ name }) => name);
  const missing = new Set(some.map(({ name }) => name));
  let members = listed;
  let endMs = performance.now() + withinMs;

  async function look(member: Member): Promise<void> {
    const timeoutMs = Math.max(1, Math.min(withinDistance(node, nodeTimeoutMs), endMs - performance.now()));
    const shown = await query(member, question, "none", timeoutMs).catch(() => 0);
    if (Number(shown) > 0) missing.delete(member.name);
  }

  for (let isKnown = false; missing.size > 0 && performance.now() < endMs; await Bun.sleep(pauseMs)) {
    const asked = members.filter(({ name }) => missing.has(name));
    await Promise.all(asked.map(look));
    // A lease needs answers from a majority, and every majority now has a node with the write.
    if (!isKnown && voters.filter((voter) => !missing.has(voter)).length * 2 > voters.length) {
      isKnown = true;
      endMs = performance.now() + leaseMs + clockMarginMs;
    }
    // A node may become reachable at another address.
    if (!asked.every(({ isReachable }) => isReachable)) {
      members = await listMembers(node, nodeTimeoutMs).catch(() => members);
    }
  }
  return [...missing];
}

/** The time limit for nodes to catch up. */
const catchUpMs = 5_000;

/**
 * Returns the names of those of some nodes that do not catch up with everything that was committed before the call. Asks
 * through the node `via`, and needs no local file.
 */
export async function findBehind(via: RqliteNode, some: readonly Member[]): Promise<string[]> {
  const last = await createRetry()("read", async (ms) => (await askPosition(via, ms, "strong")).last);
  return last === null ? [] : await waitForAll(via, last.id, some, some, catchUpMs);
}

/** Waits until the file shows a transaction, and returns its chain. */
async function untilShown(file: NodeFile, id: string, otherwise: string, withinMs: number): Promise<number> {
  for (const endMs = performance.now() + withinMs; performance.now() < endMs; await Bun.sleep(5)) {
    try {
      const chain = file.current().chainOf(id);
      if (chain !== undefined) return chain;
    } catch {
      // rqlite is rebuilding the file.
    }
  }
  throw new DatabaseUnavailable(otherwise, `Run ${adminCommand} cluster status to see how far each node is.`);
}

/** The error for a machine that cannot be trusted. Retrying does not help. */
class NotTrusted extends DatabaseUnavailable {}

/** Throws if the clock of this machine is wrong: leads written with a wrong clock may be erased too early, or served too long. */
function refuseWrongClock(offMs: number): void {
  if (Math.abs(offMs) <= maxClockOffMs) return;
  throw new NotTrusted(
    `The clock of this machine differs from that of the other nodes by ${Math.round(Math.abs(offMs) / 1_000)} s.`,
    "Set the clock, or run the command on another node.",
  );
}

/** The reason why the cluster could not be read or written; null if it could. Throws what waiting does not solve. */
export async function reasonFor(work: Promise<unknown>): Promise<string | null> {
  try {
    await work;
    return null;
  } catch (cause) {
    if (cause instanceof NotTrusted || !(cause instanceof DatabaseUnavailable)) throw cause;
    return cause.message;
  }
}

/**
 * A cluster that has lost its leader elects another one within two seconds, and a node that restarts is back soon. A command
 * that is in progress, such as an import, waits long for that. A command without any answer yet reports the problem sooner.
 */
const patienceMs = { inProgress: 30_000, unanswered: 8_000, behind: 5_000 };

/** The timeout of the first try, to which withinDistance adds the round trips. A leader answers sooner unless it hangs. */
const firstTimeoutMs = 1_000;

/** Creates a function that retries, each time with a longer timeout, while a cluster has no leader. */
function createRetry() {
  let patience = patienceMs.unanswered;

  /** Throws DatabaseUnavailable with the last reason. */
  return async <Result>(
    what: "read" | "write",
    attempt: (timeoutMs: number) => Promise<Result>,
    withinMs = patience,
  ): Promise<Result> => {
    const endMs = performance.now() + withinMs;
    let wasSent = false;
    for (let timeoutMs = firstTimeoutMs; ; timeoutMs = Math.min(10_000, timeoutMs * 1.5)) {
      try {
        const result = await attempt(timeoutMs);
        patience = patienceMs.inProgress;
        return result;
      } catch (cause) {
        // Retrying does not help if a permission is missing.
        if (!(cause instanceof NoAnswer) || cause.kind === "not allowed") throw cause;
        wasSent ||= cause.kind !== "unsent";
        if (performance.now() > endMs) {
          patience = patienceMs.unanswered;
          throw unansweredError(cause, what, wasSent);
        }
      }
      await Bun.sleep(100);
    }
  };
}

function unansweredError(last: NoAnswer, what: "read" | "write", wasSent: boolean): DatabaseUnavailable {
  // If no rqlite node listens at the address, nothing was sent.
  if (!wasSent) return last;
  const status = `Run ${adminCommand} cluster status`;
  return what === "write"
    ? new DatabaseUnavailable(
        `The write timed out (${last.reason}) and may still be applied.`,
        `${status}, then repeat the command.`,
      )
    : new DatabaseUnavailable(
        `No majority of the cluster answers (${last.reason}), so nothing can be written.`,
        `${status} to see which nodes are unreachable.`,
      );
}
