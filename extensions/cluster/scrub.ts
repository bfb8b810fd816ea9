/**
 * Removes the residual bytes of erased persons from the files of one node. A page that was split may keep a stale copy of a
 * lead, so the database is vacuumed, on all nodes. rqlite truncates its log after a snapshot, but free pages of the file keep
 * their bytes. So the log is copied while the node is stopped.
 */
import { chmodSync, chownSync, renameSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { and, eq, max, sql } from "drizzle-orm";
import { lastAct } from "../../src/db/audit.ts";
import type { Connection } from "../../src/db/connection.ts";
import { createDraftFolder, raftLogOf, sync } from "../../src/db/database-files.ts";
import { takeLock } from "../../src/db/locks.ts";
import { audit } from "../../src/db/schema.ts";
import { UserError } from "../../src/runtime/user-error.ts";
import type { ClusterDatabase } from "./database.ts";
import { checkLocalNode, stateOf, untilReady } from "./members.ts";
import { execute, NoAnswer, type RqliteNode, reasonOf, request } from "./node.ts";
import { copyUsedPages } from "./raft-log.ts";
import { locks, scrubs } from "./tables.ts";

const patienceMs = 60_000;
/** The time for a large file, which depends on the disk. Another node may take the lock of a scrub after that. */
const maxMs = 3_600_000;
const pauseMs = 50;

/** Stops and starts the local node, which its supervisor does. */
interface Restarting {
  stop(): Promise<void>;
  start(): Promise<void>;
}

/** The number of bytes that a file takes on the disk. */
const diskBytesOf = (path: string) => statSync(path).blocks * 512;

/** Throws a UserError if another node is being scrubbed or is behind, or if the node does not stop, start, or answer in time. */
export async function scrubNode(database: ClusterDatabase, restarting: Restarting) {
  await checkLocalNode(database.node, database.path);
  const log = raftLogOf(database.path);
  // Another process would replace the log while the node writes to it again.
  const release = takeLock(log);
  if (release === null) throw new UserError("Another command is scrubbing this node.", "Wait until it has finished.");
  try {
    await lockCluster(database);
    try {
      return await scrub(database, log, restarting);
    } finally {
      await database.write([sql`DELETE FROM ${locks} WHERE name = 'scrub' AND holder = ${database.node.name}`]);
    }
  } finally {
    release();
  }
}

/** A second node that is away may cost the cluster its majority. */
async function lockCluster(database: ClusterDatabase): Promise<void> {
  const { name } = database.node;
  const nowMs = Date.now();
  await database.write([
    sql`INSERT INTO ${locks} (name, holder, expires_at) VALUES ('scrub', ${name}, ${nowMs + maxMs})
      ON CONFLICT (name) DO UPDATE SET holder = excluded.holder, expires_at = excluded.expires_at
      WHERE holder = excluded.holder OR expires_at < ${nowMs}`,
  ]);
  const holder = database.read.select({ name: locks.holder }).from(locks).where(eq(locks.name, "scrub")).get()?.name;
  if (holder !== undefined && holder !== name) {
    throw new UserError(
      `Node ${holder} is being scrubbed.`,
      `Run the command again when that has finished. If it was killed, scrub that node first.`,
    );
  }
}

async function scrub(database: ClusterDatabase, log: string, restarting: Restarting) {
  const { node } = database;
  await refuseBehind(database);
  const upTo = lastAct(database.read)?.number ?? 0;
  // All nodes apply nothing else until then: some seconds for a gigabyte.
  if (hasStaleCopies(database.read)) await execute(node, [sql`VACUUM`], maxMs);
  // This entry remains in the log.
  await database.write([]);
  await truncateLog(node);

  const bytesBefore = diskBytesOf(log);
  const stoppedMs = performance.now();
  try {
    // A leader hands its role over before it stops.
    await restarting.stop();
    await untilStopped(node);
    replaceLog(log);
  } finally {
    await restarting.start();
  }
  await untilReady(node);
  const awayMs = Math.round(performance.now() - stoppedMs);
  await refuseBehind(database);
  await database.write([
    sql`INSERT INTO ${scrubs} (node, audit, at) VALUES (${node.name}, ${upTo}, ${Date.now()})
      ON CONFLICT (node) DO UPDATE SET audit = excluded.audit, at = excluded.at`,
  ]);
  return { node: node.name, bytesBefore, bytesAfter: diskBytesOf(log), awayMs };
}

async function refuseBehind(database: ClusterDatabase): Promise<void> {
  const behind = await database.findBehind();
  if (behind.length === 0) return;
  throw new UserError(
    `These nodes are unreachable or behind: ${behind.join(", ")}.`,
    "Wait until cluster status shows that they have caught up, then run the command again.",
  );
}

/** Returns true if persons were erased since any node was scrubbed: the first scrub after that vacuums for all nodes. */
function hasStaleCopies(database: Connection): boolean {
  const erased = and(eq(audit.act, "lead.erase"), sql`${audit.detail} ->> '$.erased' > 0`);
  const done = database
    .select({ number: max(scrubs.audit) })
    .from(scrubs)
    .get()?.number;
  return (lastAct(database, erased)?.number ?? 0) > (done ?? 0);
}

/** Has the node make a snapshot, which removes all entries of its log but the last. */
async function truncateLog(node: RqliteNode): Promise<void> {
  await request(node, "POST", "/snapshot?trailing_logs=1", patienceMs, { body: "" }).catch((cause) => {
    // If nothing was written since the last snapshot, there is nothing to remove.
    if (!/nothing new to snapshot/i.test(reasonOf(cause))) throw cause;
  });
}

function replaceLog(log: string): void {
  using folder = createDraftFolder(dirname(log));
  const draft = join(folder.path, "raft.db");
  const before = statSync(log);
  copyUsedPages(log, draft);
  chmodSync(draft, before.mode & 0o777);
  if (process.getuid?.() === 0) chownSync(draft, before.uid, before.gid);
  sync(draft);
  renameSync(draft, log);
  // After a power cut, the old log must not come back under this name.
  sync(dirname(log));
}

async function untilStopped(node: RqliteNode): Promise<void> {
  for (const endMs = performance.now() + patienceMs; (await stateOf(node)) !== null; await Bun.sleep(pauseMs)) {
    if (performance.now() > endMs) throw new NoAnswer("it did not stop");
  }
}
