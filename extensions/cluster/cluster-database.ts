/**
 * The database of the commands on a cluster: reads go to the file of the local rqlite node, writes to the cluster. A write is
 * done when the local file shows it.
 */
import { sql } from "drizzle-orm";
import { randomText } from "../../src/contract/key.ts";
import { DatabaseUnavailable, type LeadDatabase, WriteRefused, type WriteScope } from "../../src/db/connection.ts";
import { residues } from "../../src/db/schema.ts";
import { adminCommand } from "../../src/program-name.ts";
import { waitForAll } from "./lease/wait-for-all.ts";
import { type LocalFile, openLocalFile } from "./local-file.ts";
import { listMembers } from "./node/members.ts";
import type { RqliteNode, Statement } from "./node/node.ts";
import { statementOf } from "./node/statement.ts";
import { openSending, patienceMs } from "./sending.ts";
import { changesIn, changesNoted, incrementRevision, notingChanges } from "./transaction.ts";

/** The timeout of the first try. If every node has to be waited for, a leader that hangs is given up soon. */
const firstTimeoutMs = { everywhere: 400, local: 2_000 };
/** The time between two looks at the local file. */
const lookMs = 5;

export interface ClusterDatabase extends LeadDatabase {
  readonly file: LocalFile;
  /** Writes statements that are in the form of rqlite. Throws like `write`. */
  commit(statements: readonly Statement[], scope?: WriteScope): Promise<void>;
  /** Resolves like `catchUp`, or throws a DatabaseUnavailable sooner. */
  catchUpWithin(ms: number): Promise<void>;
  /** Waits until every node shows all writes until now. Returns the names of those that do not in time. */
  findBehind(): Promise<string[]>;
  /** The names of all nodes. */
  nodeNames(): Promise<string[]>;
}

/** Opens the database of the local node. `onUnreachable` is called with the nodes that did not confirm a write in time. */
export function openClusterDatabase(
  path: string,
  node: RqliteNode,
  onUnreachable: (names: readonly string[]) => void = () => {},
  file = openLocalFile(path),
): ClusterDatabase {
  const sending = openSending(node);

  async function catchUp(withinMs: number | null): Promise<void> {
    const last = await sending.lastPosition(firstTimeoutMs.everywhere, withinMs);
    if (last !== null && (await untilShown(file, last.id)) !== last.chain) throw new NodesDiffer();
  }

  /** Returns the numbers of changed rows; null if the answer with them was lost. */
  async function commit(id: string, statements: readonly Statement[], scope: WriteScope) {
    const isEverywhere = scope === "everywhere";
    const sent = isEverywhere ? [...statements, incrementRevision] : statements;
    // A node that hangs delays the list of the members, which is needed when the write is applied.
    const listing = isEverywhere ? listMembers(node).catch(() => null) : null;
    const outcome = await sending.transact(id, sent, firstTimeoutMs[scope]);
    if ("refusal" in outcome) await confirmRefusal(id, outcome.refusal);
    await untilShown(file, id);
    if (isEverywhere) {
      const unreachable = await waitForAll(node, file, id, await listing);
      if (unreachable.length > 0) onUnreachable(unreachable);
    }
    return "refusal" in outcome ? null : outcome.changes;
  }

  /** Throws WriteRefused when the local file shows what contradicts the write, unless a leader that lacks writes refused it. */
  async function confirmRefusal(id: string, reason: string): Promise<void> {
    await catchUp(null);
    if (file.chainOf(id) === undefined) throw new WriteRefused(reason);
  }

  return {
    path,
    file,
    get read() {
      return file.current();
    },
    async write(queries, scope = "local") {
      const statements = queries.map(statementOf);
      const id = randomText(20);
      const answered = await commit(id, notingChanges(statements), scope);
      if (answered !== null) return changesIn(answered, statements);
      const noted = changesNoted(file.current(), id, statements);
      if (noted === null) throw new Error("the cluster applied a write, but its answer was lost");
      return noted;
    },
    commit: async (statements, scope = "local") => void (await commit(randomText(20), statements, scope)),
    catchUp: () => catchUp(null),
    catchUpWithin: (ms) => catchUp(ms),
    async findBehind() {
      const id = randomText(20);
      await commit(id, [], "local");
      return await waitForAll(node, file, id, null);
    },
    nodeNames: async () => (await listMembers(node)).map(({ name }) => name),
    async removeResidualBytes() {
      await commit(randomText(20), [forgetResidues], "local");
      return (await listMembers(node)).map(({ name }) => name);
    },
    close: () => file[Symbol.dispose](),
  };
}

/** Nothing erased is served any more, and all logs hold it until they are scrubbed. */
const forgetResidues = statementOf(sql`DELETE FROM ${residues}`);

/** Waits until the file shows a transaction. Returns its chain. */
async function untilShown(file: LocalFile, id: string): Promise<number> {
  const endMs = performance.now() + patienceMs.inProgress;
  for (;;) {
    const chain = chainIn(file, id);
    if (chain !== undefined) return chain;
    if (performance.now() > endMs) {
      throw new DatabaseUnavailable(
        "The write is applied, but the local rqlite node has not caught up with it.",
        `Run ${adminCommand} cluster status to see how far each node is.`,
      );
    }
    await Bun.sleep(lookMs);
  }
}

/** The chain at a transaction; undefined if the file does not show it, or rqlite is rebuilding the file. */
function chainIn(file: LocalFile, id: string): number | undefined {
  try {
    return file.chainOf(id);
  } catch {
    return undefined;
  }
}

/** The local node or the leader lacks writes, so that neither can be trusted. */
export class NodesDiffer extends DatabaseUnavailable {
  constructor() {
    super(
      "The local rqlite node and the leader of the cluster differ: one of them lacks writes, as after a full disk.",
      `Run ${adminCommand} cluster status to see which one. Stop it, delete its folder, and start it with -join.`,
    );
  }
}
