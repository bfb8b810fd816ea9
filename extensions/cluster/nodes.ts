/** Changes of the cluster itself: its first node, its schema, and a node that leaves or joins again. */
import { existsSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { count, isNull, type SQL, sql } from "drizzle-orm";
import { connectTo } from "../../src/db/connection.ts";
import { createDraftFolder, isFileOfNode, shmOf, walOf } from "../../src/db/database-files.ts";
import { takeLock } from "../../src/db/locks.ts";
import { pendingMigrations } from "../../src/db/migrate.ts";
import { openDatabase } from "../../src/db/open.ts";
import { leads, ledgerGaps } from "../../src/db/schema.ts";
import { UserError } from "../../src/runtime/user-error.ts";
import { type ClusterDatabase, reasonFor } from "./database.ts";
import { clockMarginMs, leaseMs } from "./lease/lease.ts";
import { checkLocalNode, listMembers, type Member, stateOf, untilReady } from "./members.ts";
import { NoAnswer, query, type RqliteNode, request } from "./node.ts";
import { lastErasing, markScrubbed, type Restarting, refuseBehind, untilStopped } from "./scrub.ts";
import { nodes } from "./tables.ts";
import { createTables } from "./transaction.ts";

const timeoutMs = 10_000;
/** A large file takes as long as the disk does. */
const bootTimeoutMs = 3_600_000;

/** Makes a copy of an existing file the content of the first node. Throws a UserError unless the node is alone and empty. */
export async function initCluster(node: RqliteNode, file: string): Promise<{ readonly leads: number }> {
  if (!existsSync(file)) throw new UserError(`There is no database at ${file}.`, "Name the file of a stopped server.");
  if (isFileOfNode(file)) {
    throw new UserError(`${file} belongs to an rqlite node.`, "Name the file of a server without a cluster.");
  }
  await untilReady(node);
  await refuseUsed(node);
  const release = takeLock(file);
  if (release === null) throw new UserError(`A server has ${file} open.`, "Stop it, then run the command again.");
  using folder = createDraftFolder(dirname(file));
  const draft = join(folder.path, "node.db");
  const database = openDatabase(file);
  try {
    database.run(sql`VACUUM INTO ${draft}`);
    markScrubbed(draft, lastErasing(database));
    endGaps(draft);
    const all = database.select({ leads: count() }).from(leads).get()?.leads ?? 0;
    await request(node, "POST", "/boot", bootTimeoutMs, { body: Bun.file(draft) });
    await createTables(node);
    const received = await countIn(node, sql`${leads}`);
    if (received !== all) throw new NoAnswer(`it has ${received} leads, but the file has ${all}`);
    return { leads: all };
  } finally {
    database.$client.close();
    release();
  }
}

/** No server of the cluster would end what lasts in the file of a server that was killed. */
function endGaps(draft: string): void {
  using copy = connectTo(draft, "readwrite");
  const { from, to } = ledgerGaps;
  copy
    .update(ledgerGaps)
    .set({ to: sql`max(${Date.now()}, ${from})` })
    .where(isNull(to))
    .run();
}

/** A boot replaces everything that a node has. */
async function refuseUsed(node: RqliteNode): Promise<void> {
  const members = await listMembers(node);
  if (members.length === 1 && (await countIn(node, sql`sqlite_schema`)) === 0) return;
  throw new UserError(
    `The node at ${node.url} is not alone and empty.`,
    "Start a node with a new folder and without -join, and run the command with that node.",
  );
}

/** The number of rows that a node has in a table. */
async function countIn(node: RqliteNode, table: SQL): Promise<number> {
  return Number(await query(node, sql`SELECT count(*) FROM ${table}`, "linearizable", timeoutMs));
}

/**
 * Removes a node. It gets no later writes, and no command waits for its server. So the server stops serving first.
 */
export async function removeNode(database: ClusterDatabase, name: string): Promise<void> {
  const { node } = database;
  if (name === node.name) {
    throw new UserError(
      `${name} is the local node, which receives no writes after it is removed.`,
      "Run the command on another node.",
      2,
    );
  }
  const members = await listMembers(node);
  const names = members.map((member) => member.name);
  await database.catchUp();
  const servers = database.read.select({ name: nodes.name }).from(nodes).all();
  // If rqlite has removed the node already, revocations still wait for its server.
  if (!names.includes(name) && !servers.some((server) => server.name === name)) {
    throw new UserError(`The cluster has no node ${name}.`, `It has ${names.join(", ")}.`);
  }
  await refuseWithoutMajority(members, name);
  const setLeaving = (leaving: 0 | 1) =>
    database.write([sql`UPDATE ${nodes} SET leaving = ${leaving} WHERE name = ${name}`]);
  await setLeaving(1);
  await Bun.sleep(leaseMs + clockMarginMs);
  try {
    const body = JSON.stringify({ id: name });
    if (names.includes(name)) await request(node, "DELETE", "/remove", timeoutMs, { body });
  } catch (cause) {
    if (cause instanceof NoAnswer && cause.kind === "not allowed") await setLeaving(0);
    throw cause;
  }
  await database.write([sql`DELETE FROM ${nodes} WHERE name = ${name} AND leaving = 1`]);
}

/** Throws a UserError if the other nodes are no majority of themselves. */
async function refuseWithoutMajority(members: readonly Member[], name: string): Promise<void> {
  const others = members.filter((member) => member.isVoter && member.name !== name);
  const reached = (await Promise.all(others.map(stateOf))).filter((state) => state !== null);
  if (reached.length * 2 > others.length) return;
  throw new UserError(
    `Without ${name}, no majority of the nodes is reachable, and the cluster would stop.`,
    "Start the unreachable nodes, or remove them first.",
  );
}

/** The time that nodes have to catch up with the newest log entry of another node. */
const catchUpMs = 2_000;

/**
 * Returns the names of the nodes that lack log entries that another node has. A write that only the local node and the leader
 * have would be lost if the local node deleted it and the leader failed.
 */
async function findLackingEntries(others: readonly Member[]): Promise<string[]> {
  let newest = Number.POSITIVE_INFINITY;
  for (const endMs = performance.now() + catchUpMs; ; await Bun.sleep(50)) {
    const states = await Promise.all(others.map(stateOf));
    const last = states.map((state) => state?.store?.raft?.last_log_index ?? -1);
    // Later entries do not concern the local node.
    if (!last.includes(-1)) newest = Math.min(newest, Math.max(...last));
    const behind = others.filter((_, place) => (last[place] ?? -1) < Math.min(newest, Math.max(0, ...last)));
    if (behind.length === 0 || performance.now() > endMs) return behind.map(({ name }) => name);
  }
}

/** The entries in the folder of a node that rqlite makes. */
const madeByRqlite = ["clean_snapshot", "extensions", "raft", "raft.db", "rsnapshots"];

/**
 * Has the local node copy everything from the others, as after a full disk. Its supervisor must start it with -join. Resolves
 * when the node has caught up.
 */
export async function rejoinNode({ node, path, catchUp }: ClusterDatabase, { stop, start }: Restarting): Promise<void> {
  await checkLocalNode(node, path);
  const others = (await listMembers(node)).filter(({ name, isVoter }) => isVoter && name !== node.name);
  if (others.length === 0) {
    throw new UserError(
      `${node.name} is the only node with a vote, and its data would be lost.`,
      "Add a node first. To start from a backup instead, give the node a new folder, and run cluster init.",
    );
  }
  refuseBehind(await findLackingEntries(others));
  try {
    await stop();
    await untilStopped(node);
    // From now on it confirms no write.
    refuseBehind(await findLackingEntries(others));
    for (const made of [...madeByRqlite.map((name) => join(dirname(path), name)), path, walOf(path), shmOf(path)]) {
      rmSync(made, { recursive: true, force: true });
    }
  } finally {
    await start();
  }
  await untilReady(node);
  for (const endMs = performance.now() + bootTimeoutMs; ; ) {
    const reason = await reasonFor(catchUp());
    if (reason === null) return;
    if (performance.now() > endMs) throw new NoAnswer(reason);
  }
}

/**
 * Applies the migrations that are missing, and returns their number. Servers of the earlier version continue to serve, so
 * nothing that they use may be removed: a table that a migration drops remains in the files of the cluster.
 */
export async function migrateCluster(database: ClusterDatabase): Promise<number> {
  await createTables(database.node);
  await database.catchUp();
  const pending = pendingMigrations(database.read);
  for (const { statements, hash, createdMs } of pending) {
    const adding = statements.filter((statement) => !/^\s*DROP TABLE/i.test(statement)).map((each) => sql.raw(each));
    const record = sql`INSERT INTO __drizzle_migrations (hash, created_at) VALUES (${hash}, ${createdMs})`;
    await database.write([...adding, record]);
  }
  return pending.length;
}
