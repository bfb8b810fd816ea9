/**
 * Removes the residual bytes of erased persons from the files of one node, while it is stopped and the others serve. A page
 * that was split may keep a stale copy of a lead, so the snapshot from which the node starts is vacuumed. rqlite truncates its
 * log after a snapshot, but free pages of the file keep their bytes, so the log is copied without them.
 *
 * The vacuumed file carries the number of the last act before it, as its user version, which rqlite does not replicate. So a
 * node that gets the file of another node also gets its number.
 */
import { Database } from "bun:sqlite";
import { chmodSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { inArray, sql } from "drizzle-orm";
import { lastAct } from "../../src/db/audit.ts";
import type { Connection } from "../../src/db/connection.ts";
import { createDraftFolder, giveToOwner, raftLogOf, sync } from "../../src/db/database-files.ts";
import { takeLock } from "../../src/db/locks.ts";
import { type Act, audit } from "../../src/db/schema.ts";
import { UserError } from "../../src/runtime/user-error.ts";
import type { ClusterDatabase } from "./database.ts";
import { checkLocalNode, listMembers } from "./members.ts";
import { query, type RqliteNode, reasonOf, request } from "./node.ts";
import { copyUsedPages } from "./raft-log.ts";
import { type Restarting, refuseBehind, whileStopped } from "./rejoin.ts";

const patienceMs = 60_000;
/** The time for a large file, which depends on the disk. Another node may take the lock of a scrub after that. */
const maxMs = 3_600_000;

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
      await database.write([sql`DELETE FROM cluster_locks WHERE name = 'scrub' AND holder = ${database.node.name}`]);
    }
  } finally {
    release();
  }
}

/** Scrubs one node at a time: if a second one stopped, the cluster could lose its majority. */
async function lockCluster(database: ClusterDatabase): Promise<void> {
  const { name } = database.node;
  const nowMs = database.now();
  await database.write([
    sql`INSERT INTO cluster_locks (name, holder, expires_at) VALUES ('scrub', ${name}, ${nowMs + maxMs})
      ON CONFLICT (name) DO UPDATE SET holder = excluded.holder, expires_at = excluded.expires_at
      WHERE holder = excluded.holder OR expires_at < ${nowMs}`,
  ]);
  const [[holder] = [name]] = database.read.values<[string]>(
    sql`SELECT holder FROM cluster_locks WHERE name = 'scrub'`,
  );
  if (holder === name) return;
  throw new UserError(
    `Node ${holder} is being scrubbed.`,
    "Run the command again when that has finished. If it was killed, scrub that node first.",
  );
}

async function scrub(database: ClusterDatabase, log: string, restarting: Restarting) {
  const { node } = database;
  const members = await listMembers(node);
  await refuseBehind(node, members);
  const upTo = lastAct(database.read)?.number ?? 0;
  const isDue = (await scrubbedUpTo(node)) < lastErasing(database.read);
  // This entry remains in the log.
  await database.write([]);
  await truncateLog(node);
  const bytesBefore = diskBytesOf(log);
  const stoppedMs = performance.now();
  await whileStopped(node, restarting, () => {
    replace(dirname(log), log, (draft) => copyUsedPages(log, draft));
    if (isDue) vacuumSnapshot(dirname(log), upTo);
  });
  const awayMs = Math.round(performance.now() - stoppedMs);
  await refuseBehind(node, members);
  if ((await scrubbedUpTo(node)) < lastErasing(database.read)) {
    throw new UserError(
      `${node.name} received the file of a node that is not scrubbed, or persons were erased during the scrub.`,
      "Run the command again.",
    );
  }
  return { node: node.name, bytesBefore, bytesAfter: diskBytesOf(log), awayMs };
}

/** Acts after which residual bytes are left. */
const erasingActs: readonly Act[] = ["lead.erase", "retain.erase", "import.undo", "account.delete"];

/** Returns the number of the last act that left residual bytes. */
export function lastErasing(database: Connection): number {
  return lastAct(database, inArray(audit.act, erasingActs))?.number ?? 0;
}

/** Asks a node for the last act whose residual bytes it does not have any more. */
export async function scrubbedUpTo(node: RqliteNode, withinMs = patienceMs): Promise<number> {
  return Number(await query(node, sql`SELECT user_version FROM pragma_user_version`, "none", withinMs));
}

/** Has the node make a snapshot, which removes all entries of its log but the last. */
async function truncateLog(node: RqliteNode): Promise<void> {
  await request(node, "POST", "/snapshot?trailing_logs=1", patienceMs, { body: "" }).catch((cause) => {
    // If nothing was written since the last snapshot, there is nothing to remove.
    if (!/nothing new to snapshot/i.test(reasonOf(cause))) throw cause;
  });
}

/** Vacuums the snapshot of a stopped node, and makes the node start from it: it would keep its file otherwise. */
function vacuumSnapshot(folder: string, upTo: number): void {
  const snapshots = join(folder, "rsnapshots");
  const [name, ...others] = readdirSync(snapshots).filter((each) => each.endsWith(".db"));
  if (name === undefined || others.length > 0) {
    throw new UserError(
      `${snapshots} does not have exactly one snapshot.`,
      "Start the node, then run the command again.",
    );
  }
  const snapshot = join(snapshots, name);
  rmSync(join(folder, "clean_snapshot"), { force: true });
  replace(folder, snapshot, (draft) => {
    using from = new Database(snapshot, { readwrite: true });
    from.run("VACUUM INTO ?", [draft]);
    markScrubbed(draft, upTo);
  });
  const description = join(snapshots, name.slice(0, -".db".length), "meta.json");
  const meta: object = JSON.parse(readFileSync(description, "utf8"));
  const text = JSON.stringify({ ...meta, Size: statSync(snapshot).size });
  replace(folder, description, (draft) => writeFileSync(draft, text));
}

/** Records in a vacuumed file that it has no residual bytes of an act or an earlier one. */
export function markScrubbed(path: string, upTo: number): void {
  using vacuumed = new Database(path, { readwrite: true });
  vacuumed.run(`PRAGMA user_version = ${upTo}`);
  // rqlite puts the next changes into a log next to a snapshot.
  vacuumed.run("PRAGMA journal_mode = WAL");
}

/** Replaces a file by a draft that is made in the folder of the node. */
function replace(nodeFolder: string, path: string, make: (draft: string) => void): void {
  using folder = createDraftFolder(nodeFolder);
  const draft = join(folder.path, "draft");
  make(draft);
  chmodSync(draft, statSync(path).mode & 0o777);
  giveToOwner(draft, path);
  sync(draft);
  renameSync(draft, path);
  // After a power cut, the old file must not come back under this name.
  sync(dirname(path));
}
