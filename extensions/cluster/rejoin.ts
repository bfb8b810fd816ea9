/**
 * Works on the files of the local node while it is stopped. A rejoin removes them, so that the node copies all data from the
 * others.
 */
import { rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { shmOf, walOf } from "../../src/db/database-files.ts";
import { UserError } from "../../src/runtime/user-error.ts";
import { type ClusterDatabase, findBehind, reasonFor } from "./database.ts";
import { checkLocalNode, listMembers, type Member, otherVoters, refuseAlone, stateOf, untilReady } from "./members.ts";
import { NoAnswer, type RqliteNode } from "./node.ts";

/** Stops and starts the local node through its supervisor. */
export interface Restarting {
  stop(): Promise<void>;
  start(): Promise<void>;
}

/** The time limit for an orderly stop. */
const stopWithinMs = 60_000;
/** The time limit for a large file, which depends on the disk and the network. */
const copyWithinMs = 3_600_000;

/** Stops the node, does some work, and starts the node again even if the work fails. Resolves when the node is ready. */
export async function whileStopped(
  node: RqliteNode,
  { stop, start }: Restarting,
  work: () => void | Promise<void>,
): Promise<void> {
  try {
    // A leader hands over its leadership before it stops.
    await stop();
    for (const endMs = performance.now() + stopWithinMs; (await stateOf(node)) !== null; await Bun.sleep(50)) {
      if (performance.now() > endMs) throw new NoAnswer("it did not stop");
    }
    await work();
  } finally {
    await start();
  }
  await untilReady(node);
}

/** Throws a UserError if one of some nodes lacks a write that was committed before the call. Asks through the node `via`. */
export async function refuseBehind(via: RqliteNode, some: readonly Member[]): Promise<void> {
  const behind = await findBehind(via, some);
  if (behind.length === 0) return;
  throw new UserError(
    `These nodes are unreachable or behind: ${behind.join(", ")}.`,
    "Wait until cluster status shows that they have caught up, then run the command again.",
  );
}

/** The entries that rqlite creates in the folder of a node. */
const madeByRqlite = ["clean_snapshot", "extensions", "raft", "raft.db", "rsnapshots"];

/**
 * Has the local node copy everything from the others, as after a full disk. Its supervisor must start it with -join. Resolves
 * when the node has caught up.
 */
export async function rejoinNode({ node, path, catchUp }: ClusterDatabase, restarting: Restarting): Promise<void> {
  await checkLocalNode(node, path);
  const others = otherVoters(await listMembers(node), node.name);
  const [other] = others;
  if (other === undefined) {
    throw new UserError(
      `${node.name} is the only node with a vote, and its data would be lost.`,
      "Add a node first. To start from a backup instead, give the node a new folder, and run cluster init.",
    );
  }
  await refuseBehind(node, others);
  await whileStopped(node, restarting, async () => {
    // The local node no longer confirms writes. A write that only it and the leader have would be lost.
    await refuseBehind(other, others);
    for (const made of [...madeByRqlite.map((name) => join(dirname(path), name)), path, walOf(path), shmOf(path)]) {
      rmSync(made, { recursive: true, force: true });
    }
  });
  for (const endMs = performance.now() + copyWithinMs; ; ) {
    const reason = await reasonFor(catchUp());
    if (reason === null) return;
    await refuseAlone(node);
    if (performance.now() > endMs) throw new NoAnswer(reason);
  }
}
