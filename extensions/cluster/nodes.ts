/** Changes to the cluster itself: creates it on its first node, migrates its schema, and removes a node. */
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { count, sql } from "drizzle-orm";
import { connectTo } from "../../src/db/connection.ts";
import { createDraftFolder, isFileOfNode } from "../../src/db/database-files.ts";
import { takeLock } from "../../src/db/locks.ts";
import { pendingMigrations } from "../../src/db/migrate.ts";
import { openDatabase } from "../../src/db/open.ts";
import { leads } from "../../src/db/schema.ts";
import { UserError } from "../../src/runtime/user-error.ts";
import type { ClusterDatabase } from "./database.ts";
import { clockMarginMs, leaseMs } from "./lease/lease.ts";
import { isEmptyAlone, listMembers, type Member, otherVoters, stateOf, untilReady } from "./members.ts";
import { NoAnswer, query, type RqliteNode, request } from "./node.ts";
import { lastErasing, markScrubbed } from "./scrub.ts";
import { createTables, listServers } from "./transactions.ts";

const timeoutMs = 10_000;
/** The time limit for a large file, which depends on the disk. */
const bootTimeoutMs = 3_600_000;

/** Makes a copy of an existing file the content of the first node. Throws a UserError unless the node is alone and empty. */
export async function initCluster(node: RqliteNode, file: string): Promise<{ readonly leads: number }> {
  if (!existsSync(file)) throw new UserError(`There is no database at ${file}.`, "Name the file of a stopped server.");
  if (isFileOfNode(file)) {
    throw new UserError(`${file} belongs to an rqlite node.`, "Name the file of a server without a cluster.");
  }
  await untilReady(node);
  // A boot replaces everything that a node has.
  if (!(await isEmptyAlone(node))) {
    throw new UserError(
      `The node at ${node.url} is not alone and empty.`,
      "Start a node with a new folder and without -join, and run the command with that node.",
    );
  }
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
    const received = Number(await query(node, sql`SELECT count(*) FROM ${leads}`, "linearizable", timeoutMs));
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
  copy.run(sql`UPDATE ledger_gaps SET ends_at = max(${Date.now()}, begins_at) WHERE ends_at IS NULL`);
}

/**
 * Removes a node. Afterwards, the node gets no writes, and no command waits for its server, so the server stops serving first.
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
  const isMember = members.some((member) => member.name === name);
  await database.catchUp();
  // If rqlite has removed the node already, revocations still wait for its server.
  if (!isMember && !listServers(database.read).some((server) => server.name === name)) {
    throw new UserError(`The cluster has no node ${name}.`, `It has ${members.map((one) => one.name).join(", ")}.`);
  }
  await refuseWithoutMajority(members, name);
  const setLeaving = (leaving: 0 | 1) =>
    database.write([sql`UPDATE cluster_nodes SET leaving = ${leaving} WHERE name = ${name}`]);
  await setLeaving(1);
  await Bun.sleep(leaseMs + clockMarginMs);
  try {
    if (isMember) await request(node, "DELETE", "/remove", timeoutMs, { body: JSON.stringify({ id: name }) });
  } catch (cause) {
    if (cause instanceof NoAnswer && cause.kind === "not allowed") await setLeaving(0);
    throw cause;
  }
  await database.write([sql`DELETE FROM cluster_nodes WHERE name = ${name} AND leaving = 1`]);
}

/** Throws a UserError unless a majority of the other nodes is reachable. */
async function refuseWithoutMajority(members: readonly Member[], name: string): Promise<void> {
  const others = otherVoters(members, name);
  const reached = (await Promise.all(others.map(stateOf))).filter((state) => state !== null);
  if (reached.length * 2 > others.length) return;
  throw new UserError(
    `Without ${name}, no majority of the nodes is reachable, and the cluster would stop.`,
    "Start the unreachable nodes, or remove them first.",
  );
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
