/**
 * The database of a cluster: reads go to the file of the local rqlite node, writes to the cluster. A write is done when the
 * local file shows it.
 */
import { sql } from "drizzle-orm";
import {
  DatabaseUnavailable,
  type NextBatch,
  type Statement,
  tryToWrite,
  WriteRefused,
  type WriteScope,
} from "../../src/db/connection.ts";
import { residues } from "../../src/db/schema.ts";
import { nextSize } from "../../src/db/steps.ts";
import { adminCommand } from "../../src/runtime/program-name.ts";
import { createMajorityClock, measureClock } from "./clock.ts";
import { clockMarginMs, leaseMs, maxClockOffMs } from "./lease/lease.ts";
import { type Member, openMembers, withinDistance } from "./members.ts";
import { NoAnswer, query, type RqliteNode } from "./node.ts";
import type { NodeFile } from "./node-file.ts";
import { nodes, writes } from "./tables.ts";
import { askPosition, incrementRevision, send, transactionId } from "./transaction.ts";

export type ClusterDatabase = ReturnType<typeof openClusterDatabase>;

const behind = "The local rqlite node has not caught up with the cluster.";
const notShown = "The write is applied, but the local rqlite node has not caught up with it.";

const measureEveryMs = 10_000;

/** Applies transactions, and brings the local file up to those of others. */
function openTransactions(file: NodeFile, node: RqliteNode) {
  const retry = createRetry(node);
  const clock = createMajorityClock();
  let measuredMs = Number.NEGATIVE_INFINITY;
  const isShown = (id: string) => file.current().chainOf(id) !== undefined;

  /** Corrects the clock. Returns how far that of this machine is behind; null if no other node answers. */
  async function measure(): Promise<number | null> {
    measuredMs = performance.now();
    const offMs = await measureClock(node).catch(() => null);
    if (offMs !== null) clock.correct(offMs);
    return offMs;
  }

  /** Returns the time of the majority. A process that runs for long, such as one that sends alerts, measures it again. */
  function now(): number {
    if (performance.now() - measuredMs > measureEveryMs) void measure();
    return clock.now();
  }

  async function catchUp(withinMs?: number): Promise<void> {
    const ask = (ms: number) => askPosition(node, null, ms, "linearizable");
    const measuring = measure();
    const { last, clockOffMs } = await retry("read", ask, withinMs);
    // If no other node has answered the measurement, the answer of the leader is the only other clock.
    const offMs = (await measuring) ?? clockOffMs;
    if (Math.abs(offMs) > maxClockOffMs) throw wrongClock(offMs);
    if (last === null) return;
    // A command that does not depend on it, such as doctor, must not wait long for a node that is behind.
    const shownMs = withinMs === undefined ? patienceMs.inProgress : patienceMs.behind;
    if ((await untilShown(file, last.id, behind, shownMs)) === last.chain) return;
    throw new NodesDiffer(
      "The local rqlite node and the leader of the cluster differ: one of them lacks writes, as after a full disk.",
      `Run ${adminCommand} cluster status to see which one, and then ${adminCommand} cluster rejoin on its machine.`,
    );
  }

  /** Resolves when the local file shows the transaction. Throws like `write`. Can be repeated with the same ID. */
  async function apply(id: string, statements: readonly Statement[], withinMs?: number): Promise<void> {
    try {
      await retry("write", (ms) => send(node, id, statements, ms), withinMs);
    } catch (cause) {
      if (!(cause instanceof WriteRefused)) throw cause;
      // A leader that lacks writes may have refused it. Then the local file has it from an earlier try.
      await catchUp();
      if (!isShown(id)) throw cause;
    }
    await untilShown(file, id, notShown, withinMs ?? patienceMs.inProgress);
  }

  return { catchUp, apply, isShown, now };
}

/** The number of leads in a batch, and the durations between which it stays the same. */
const steps = { min: 200, max: 4_000, shortMs: 60, longMs: 150 };

/** Opens the database of a node. `onUnreachable` is called with the nodes that did not confirm a write in time. */
export function openClusterDatabase(file: NodeFile, node: RqliteNode, onUnreachable = (_: readonly string[]) => {}) {
  const transactions = openTransactions(file, node);
  const list = openMembers(node);

  /** Writes statements for all nodes. Returns the names of those that do not show them in time. */
  async function writeEverywhere(statements: readonly Statement[]): Promise<string[]> {
    const id = transactionId();
    // Requested now, because a node that hangs delays the list. If this fails, it is requested again after the write.
    const listing = list(reachWithinMs).catch(() => null);
    await transactions.apply(id, [...statements, incrementRevision]);
    return await waitForAll(file, node, id, list, (await listing) ?? (await list()));
  }

  return {
    path: file.path,
    node,
    file,
    get read() {
      return file.current().connection;
    },
    async write(statements: readonly Statement[], scope: WriteScope = "local"): Promise<void> {
      if (scope === "local") return await transactions.apply(transactionId(), statements);
      const unreachable = await writeEverywhere(statements);
      if (unreachable.length > 0) onUnreachable(unreachable);
    },
    /** Other programs may write between two batches. A batch that their writes made outdated is built again. */
    async *writeBatches(next: NextBatch) {
      let [leads, fromMs, size] = [0, Number.MIN_SAFE_INTEGER, steps.min];
      for (;;) {
        const startedMs = performance.now();
        const batch = next(file.current().connection, fromMs, size);
        if (batch === null) return leads;
        if (!(await tryToWrite(this, batch.statements))) continue;
        fromMs = batch.lastMs;
        const tookMs = performance.now() - startedMs;
        size = nextSize(size, tookMs, steps);
        yield (leads += batch.leads);
        // Other writers get their turn.
        await Bun.sleep(tookMs / 4);
      }
    },
    ...transactions,
    /** Waits until every node shows all writes so far. Returns the names of the nodes that do not in time. */
    findBehind: () => writeEverywhere([]),
    async removeResidualBytes() {
      // Nothing erased is served any more, but the logs of all nodes hold it until they are scrubbed.
      await transactions.apply(transactionId(), [sql`DELETE FROM ${residues}`]);
      return (await list()).map(({ name }) => name);
    },
    close: () => file.release(),
  };
}

/** The time between two looks at a node. */
const lookMs = 5;
/** The first list must be there soon. A node that is missing from it is found by the next one. */
const reachWithinMs = 300;
const listEveryMs = 500;
/** The timeout for a node, to which withinDistance adds the round trips. */
const nodeTimeoutMs = 1_000;
/** A majority that has received a write applies it sooner, unless the disks of several nodes are full. */
const maxApplyMs = 30_000;

/**
 * Waits until each node shows a transaction. A node that cannot be asked is waited for until any lease has ended that began
 * before a majority showed the transaction. Returns the names of these nodes.
 */
async function waitForAll(
  file: NodeFile,
  node: RqliteNode,
  id: string,
  list: ReturnType<typeof openMembers>,
  listed: readonly Member[],
): Promise<string[]> {
  const question = sql`SELECT count(*) FROM ${writes} WHERE id = ${id}`;
  const voters = listed.filter(({ isVoter }) => isVoter).map(({ name }) => name);
  // A server without a row yet asks the majority after the write.
  const servers = file.current().connection.select({ name: nodes.name }).from(nodes).all();
  const missing = new Set([...listed, ...servers].map(({ name }) => name));
  let members = listed;
  let endMs = performance.now() + maxApplyMs;
  let isKnownToMajority = false;
  const isLeft = () => missing.size > 0 && performance.now() < endMs;

  /** Asks one node until it shows the transaction: a node that hangs must not delay the others. */
  async function follow(name: string): Promise<void> {
    for (; missing.has(name) && isLeft(); await Bun.sleep(lookMs)) {
      const member = members.find((one) => one.name === name);
      const timeoutMs = Math.max(1, Math.min(withinDistance(node, nodeTimeoutMs), endMs - performance.now()));
      const shown = member && (await query(member, question, "none", timeoutMs).catch(() => null));
      if (Number(shown) > 0) missing.delete(name);
      // The lease of a node ends without answers from a majority, and a node of this majority has the write.
      if (isKnownToMajority || voters.filter((voter) => !missing.has(voter)).length * 2 <= voters.length) continue;
      isKnownToMajority = true;
      endMs = performance.now() + leaseMs + clockMarginMs;
    }
  }

  /** Keeps the list up to date. The last list is good enough until the next one. */
  async function refresh(): Promise<void> {
    for (; isLeft(); await Bun.sleep(listEveryMs)) members = await list(nodeTimeoutMs).catch(() => members);
  }

  if (listed.some(({ isReachable }) => !isReachable)) void refresh();
  await Promise.all([...missing].map(follow));
  return [...missing];
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

/** The local node or the leader lacks writes, so that neither can be trusted. */
class NodesDiffer extends DatabaseUnavailable {}

/** The clock of this machine is wrong: what is written with it may be erased too early, or served too long. */
class WrongClock extends DatabaseUnavailable {}

function wrongClock(offMs: number): WrongClock {
  return new WrongClock(
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
    if (cause instanceof NodesDiffer || cause instanceof WrongClock || !(cause instanceof DatabaseUnavailable))
      throw cause;
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

/** Makes a function that tries until there is a result, each time with a longer timeout, while a cluster has no leader. */
function createRetry(node: RqliteNode) {
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
        const result = await attempt(Math.round(withinDistance(node, timeoutMs)));
        patience = patienceMs.inProgress;
        return result;
      } catch (cause) {
        // Waiting does not help against a missing permission.
        if (!(cause instanceof NoAnswer) || cause.kind === "not allowed") throw cause;
        // If no rqlite node listens at the address, nothing is sent.
        wasSent ||= cause.kind !== "unsent";
        if (performance.now() > endMs) {
          patience = patienceMs.unanswered;
          throw gaveUp(cause, what, wasSent);
        }
      }
      await Bun.sleep(100);
    }
  };
}

function gaveUp(last: NoAnswer, what: "read" | "write", wasSent: boolean): DatabaseUnavailable {
  if (!wasSent) return last;
  if (what === "write") {
    return new DatabaseUnavailable(
      `The write timed out (${last.reason}) and may still be applied.`,
      `Run ${adminCommand} cluster status, then repeat the command.`,
    );
  }
  return new DatabaseUnavailable(
    `No majority of the cluster answers (${last.reason}), so nothing can be written.`,
    `Run ${adminCommand} cluster status to see which nodes are unreachable.`,
  );
}
