/**
 * The database of a cluster: reads go to the file of the local rqlite node, writes to the cluster. A write is done when the
 * local file shows it.
 */
import { sql } from "drizzle-orm";
import { randomText } from "../../src/contract/key.ts";
import { DatabaseUnavailable, type Statement, WriteRefused, type WriteScope } from "../../src/db/connection.ts";
import { residues } from "../../src/db/schema.ts";
import { adminCommand } from "../../src/program-name.ts";
import { clockMarginMs, leaseMs } from "./lease/lease.ts";
import { type Member, openMembers } from "./members.ts";
import { NoAnswer, query, type RqliteNode } from "./node.ts";
import type { NodeFile } from "./node-file.ts";
import { nodes, writes } from "./tables.ts";
import { incrementRevision, lastPosition, type Position, readPosition, send } from "./transaction.ts";

export type ClusterDatabase = ReturnType<typeof openClusterDatabase>;

/** The timeout of the first try. If every node has to be waited for, a leader that hangs is given up soon. */
const firstTimeoutMs = { everywhere: 400, local: 2_000 };

const behind = "The local rqlite node has not caught up with the cluster.";

/** Opens the database of a node. `onUnreachable` is called with the nodes that did not confirm a write in time. */
export function openClusterDatabase(file: NodeFile, node: RqliteNode, onUnreachable = (_: readonly string[]) => {}) {
  const retry = createRetry();
  const list = openMembers(node);

  async function catchUp(withinMs?: number): Promise<void> {
    const last = await retry("read", firstTimeoutMs.everywhere, (ms) => askLastPosition(node, ms), withinMs);
    if (last === null) return;
    // A command that does not depend on it, such as doctor, must not wait long for a node that is behind.
    const shownMs = withinMs === undefined ? patienceMs.inProgress : patienceMs.behind;
    const chain = await untilShown(() => file.current().chainOf(last.id), behind, shownMs);
    if (chain !== last.chain) throw new NodesDiffer();
  }

  /** Resolves when the local file shows the transaction. */
  async function apply(id: string, statements: readonly Statement[], firstMs: number): Promise<void> {
    try {
      await retry("write", firstMs, (ms) => send(node, id, statements, ms));
    } catch (cause) {
      if (!(cause instanceof WriteRefused)) throw cause;
      // A leader that lacks writes may have refused it. Then the local file has it from an earlier try.
      await catchUp();
      if (file.current().chainOf(id) === undefined) throw cause;
    }
    await untilShown(() => file.current().chainOf(id));
  }

  /** Writes statements under an ID. Throws like `write`. */
  async function commit(id: string, statements: readonly Statement[], scope: WriteScope = "local"): Promise<void> {
    if (scope === "local") return await apply(id, statements, firstTimeoutMs.local);
    // A node that hangs delays the list of the members, which is needed when the write is applied.
    const listing = list(300).catch(() => null);
    await apply(id, [...statements, incrementRevision], firstTimeoutMs.everywhere);
    const unreachable = await waitForAll(file, id, list, await listing);
    if (unreachable.length > 0) onUnreachable(unreachable);
  }

  return {
    path: file.path,
    node,
    file,
    get read() {
      return file.current().connection;
    },
    write: (statements: readonly Statement[], scope?: WriteScope) => commit(randomText(20), statements, scope),
    commit,
    catchUp,
    /** Waits until every node shows all writes until now. Returns the names of those that do not in time. */
    async findBehind() {
      const id = randomText(20);
      await commit(id, []);
      return await waitForAll(file, id, list, null);
    },
    async removeResidualBytes() {
      // Nothing erased is served any more, but the logs of all nodes hold it until they are scrubbed.
      await commit(randomText(20), [sql`DELETE FROM ${residues}`]);
      return (await list()).map(({ name }) => name);
    },
    close: () => file.release(),
  };
}

/** The time between two looks at all nodes. */
const lookMs = 5;
const listEveryMs = 1_000;
/** A majority that has received a write applies it sooner, unless the disks of several nodes are full. */
const maxApplyMs = 30_000;

/**
 * Waits until each node shows a transaction. A node that cannot be asked is waited for until any lease has ended that began
 * before a majority showed the transaction. Returns the names of these nodes.
 */
async function waitForAll(
  file: NodeFile,
  id: string,
  list: ReturnType<typeof openMembers>,
  listed: readonly Member[] | null,
): Promise<string[]> {
  let members = listed ?? (await list());
  const question = sql`SELECT count(*) FROM ${writes} WHERE id = ${id}`;
  const voters = members.filter(({ isVoter }) => isVoter).map(({ name }) => name);
  // A server without a row yet asks the majority after the write.
  const servers = file.current().connection.select({ name: nodes.name }).from(nodes).all();
  const missing = new Set([...members, ...servers].map(({ name }) => name));
  let endMs = performance.now() + maxApplyMs;
  let isKnownToMajority = false;

  async function shows(name: string): Promise<boolean> {
    const member = members.find((one) => one.name === name);
    if (member === undefined) return false;
    const timeoutMs = Math.max(1, Math.min(500, endMs - performance.now()));
    try {
      return Number(await query(member, question, "none", timeoutMs)) > 0;
    } catch {
      // It is asked again until the time is up.
      return false;
    }
  }

  async function waitFor(name: string): Promise<void> {
    while (!(await shows(name))) {
      if (performance.now() > endMs) return;
      await Bun.sleep(lookMs);
    }
    missing.delete(name);
    // The lease of a node ends without answers from a majority, and a node of this majority has the write.
    if (isKnownToMajority || voters.filter((voter) => !missing.has(voter)).length * 2 <= voters.length) return;
    isKnownToMajority = true;
    endMs = performance.now() + leaseMs + clockMarginMs;
  }

  const listing = setInterval(async () => {
    // The last list is good enough until the next try.
    members = await list().catch(() => members);
  }, listEveryMs);
  await Promise.all([...missing].map(waitFor));
  clearInterval(listing);
  return [...missing];
}

/** Waits until the file shows something. */
async function untilShown<Shown>(
  read: () => Shown | undefined,
  otherwise = "The write is applied, but the local rqlite node has not caught up with it.",
  withinMs = patienceMs.inProgress,
): Promise<Shown> {
  for (const endMs = performance.now() + withinMs; performance.now() < endMs; await Bun.sleep(5)) {
    try {
      const shown = read();
      if (shown !== undefined) return shown;
    } catch {
      // rqlite is rebuilding the file.
    }
  }
  throw new DatabaseUnavailable(otherwise, `Run ${adminCommand} cluster status to see how far each node is.`);
}

/** The local node or the leader lacks writes, so that neither can be trusted. */
class NodesDiffer extends DatabaseUnavailable {
  constructor() {
    super(
      "The local rqlite node and the leader of the cluster differ: one of them lacks writes, as after a full disk.",
      `Run ${adminCommand} cluster status to see which one. Stop it, delete its folder, and start it with -join.`,
    );
  }
}

/** The reason why the cluster could not be read or written; null if it could. Throws what waiting does not solve. */
export async function reasonFor(work: Promise<unknown>): Promise<string | null> {
  try {
    await work;
    return null;
  } catch (cause) {
    if (cause instanceof NodesDiffer || !(cause instanceof DatabaseUnavailable)) throw cause;
    return cause.message;
  }
}

/**
 * A cluster that has lost its leader elects another one within two seconds, and a node that restarts is back soon. A command
 * that is in progress, such as an import, waits long for that. A command without any answer yet reports the problem sooner.
 */
const patienceMs = { inProgress: 30_000, unanswered: 8_000, behind: 5_000 };

/** Asks for the last transaction of the cluster; null if it has none. */
async function askLastPosition(node: RqliteNode, timeoutMs: number): Promise<Position | null> {
  return readPosition(await query(node, sql.raw(`SELECT ${lastPosition}`), "linearizable", timeoutMs));
}

/** Makes a function that tries until there is a result, each time with a longer timeout, while a cluster has no leader. */
function createRetry() {
  let maxMs = patienceMs.unanswered;

  /** Throws DatabaseUnavailable with the last reason. */
  return async <Result>(
    what: "read" | "write",
    firstMs: number,
    attempt: (timeoutMs: number) => Promise<Result>,
    withinMs = maxMs,
  ): Promise<Result> => {
    const endMs = performance.now() + withinMs;
    let wasSent = false;
    for (let timeoutMs = firstMs; ; timeoutMs = Math.min(10_000, timeoutMs * 1.5)) {
      const tried = await attempt(timeoutMs).catch(unlessAnswered);
      if (!(tried instanceof NoAnswer)) {
        maxMs = patienceMs.inProgress;
        return tried;
      }
      // If no rqlite node listens at the address, nothing is sent.
      wasSent ||= tried.kind !== "unsent";
      if (performance.now() > endMs) {
        // The next one, such as the record of an import that failed, is tried once.
        if (what === "write") maxMs = 0;
        throw gaveUp(tried, what, wasSent);
      }
      await Bun.sleep(100);
    }
  };
}

function unlessAnswered(cause: unknown): NoAnswer {
  if (cause instanceof NoAnswer) return cause;
  throw cause;
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
