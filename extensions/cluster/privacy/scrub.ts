/**
 * Takes what was erased out of the files of one node. A page that was split may keep a stale copy of a lead, so the
 * database is written anew, on all nodes. rqlite cuts the log after a snapshot, but its file never shrinks, and free pages
 * keep what they held. So that file is written anew while the node is stopped.
 */
import { chmodSync, chownSync, existsSync, renameSync, rmSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { and, eq, max, sql } from "drizzle-orm";
import { draftOf, sync } from "../../../src/db/atomic-file.ts";
import { lastAct } from "../../../src/db/audit.ts";
import type { Connection } from "../../../src/db/connection.ts";
import { takeLock } from "../../../src/db/locks/process-lock.ts";
import { audit, scrubs } from "../../../src/db/schema.ts";
import { raftLogOf } from "../../../src/store/database-files.ts";
import { StoreError } from "../../../src/store/errors.ts";
import type { Restarting, Scrubbed } from "../cluster/node-status.ts";
import { listMembers } from "../node/members.ts";
import { ask, type RqliteNode, readWritten, requestTo } from "../node/node.ts";
import { stateOf } from "../node/state.ts";
import { statementOf } from "../node/statement.ts";
import type { Writer } from "../writer.ts";

const patienceMs = 60_000;
/** A large file takes as long as the disk does. */
const longestMs = 3_600_000;
const pauseMs = 50;
/** The program of the library in which the log is kept. */
export const compactor = "bbolt";

/** Throws a StoreError where the node does not stop, start or answer in time, or is scrubbed already. */
export async function scrubNode(node: RqliteNode, writer: Writer, around: Restarting): Promise<Scrubbed> {
  if (Bun.which(compactor) === null) throw new StoreError({ kind: "program missing", program: compactor });
  const log = raftLogOf(writer.file.path);
  // Another one would put its copy in the place of the log into which the node writes again.
  const release = takeLock(log);
  if (release === null) throw new StoreError({ kind: "locked for too long", path: log });
  try {
    return await scrub(node, writer, log, around);
  } finally {
    release();
  }
}

async function scrub(node: RqliteNode, writer: Writer, log: string, { stop, start }: Restarting): Promise<Scrubbed> {
  const name = (await stateOf(node))?.store?.node_id;
  if (name === undefined) throw new StoreError({ kind: "node silent", reason: "it does not tell its name" });
  writer.catchUp();
  const database = writer.file.current();
  const upTo = lastAct(database)?.number ?? 0;
  if (isStaleLikely(database)) await writeAnew(node);
  // The own node has come so far when this returns, and this is the entry that stays in its log.
  writer.commit([]);
  await cutLog(node);
  await handOver(node, name);

  const bytesBefore = statSync(log).size;
  const stoppedMs = performance.now();
  try {
    await stop();
    await until(async () => (await stateOf(node)) === null, "it has not stopped");
    await compact(log);
  } finally {
    await start();
  }
  await until(() => isReady(node), "it has not come back");
  const awayMs = performance.now() - stoppedMs;
  const values = sql`VALUES (${name}, ${upTo}, ${Date.now()})`;
  const newer = sql`ON CONFLICT (node) DO UPDATE SET audit = excluded.audit, at = excluded.at`;
  writer.commit([statementOf(sql`INSERT INTO ${scrubs} (node, audit, at) ${values} ${newer}`)]);
  return { node: name, bytesBefore, bytesAfter: statSync(log).size, awayMs: Math.round(awayMs) };
}

/** Whether persons were erased since any node was scrubbed: the first scrub after that does it for all nodes. */
function isStaleLikely(database: Connection): boolean {
  const erased = and(eq(audit.act, "lead.erase"), sql`${audit.detail} ->> '$.erased' > 0`);
  const done = database
    .select({ number: max(scrubs.audit) })
    .from(scrubs)
    .get()?.number;
  return (lastAct(database, erased)?.number ?? 0) > (done ?? 0);
}

/** Writes the database anew on all nodes, which take nothing else meanwhile: some seconds for a gigabyte. */
async function writeAnew(node: RqliteNode): Promise<void> {
  const request = requestTo(node, "POST", `/db/execute?timeout=${longestMs}ms`, '["VACUUM"]', longestMs);
  const written = readWritten(await ask(request));
  if (written.kind !== "done") throw silent(written.reason);
}

/** Folds the log into a snapshot; the last entry stays. */
async function cutLog(node: RqliteNode): Promise<void> {
  const { status, text } = await ask(requestTo(node, "POST", "/snapshot?trailing_logs=1", "", patienceMs));
  // Where nothing has come since the last snapshot there is nothing to cut.
  if (status !== 200 && !/nothing new to snapshot/i.test(text)) throw silent(text.trim() || `it answered ${status}`);
}

/** A leader hands its place on before it stops, so that nobody waits for an election. */
async function handOver(node: RqliteNode, name: string): Promise<void> {
  const members = await listMembers(node);
  if (members.length < 2 || members.find(({ isLeader }) => isLeader)?.name !== name) return;
  await ask(requestTo(node, "POST", "/leader?wait=true", "", patienceMs));
}

async function compact(log: string): Promise<void> {
  const draft = draftOf(log);
  const before = statSync(log);
  try {
    const child = Bun.spawn([compactor, "compact", "-o", draft, log], { stdout: "ignore", stderr: "pipe" });
    const [status, said] = await Promise.all([child.exited, child.stderr.text()]);
    if (status !== 0 || !existsSync(draft)) throw silent(`${compactor} failed: ${said.trim()}`);
    chmodSync(draft, before.mode & 0o777);
    if (process.getuid?.() === 0) chownSync(draft, before.uid, before.gid);
    renameSync(draft, log);
  } finally {
    // It holds what the log is to lose.
    rmSync(draft, { force: true });
  }
  // What the node writes from here on must not go with this name in a power cut.
  sync(dirname(log));
}

async function isReady(node: RqliteNode): Promise<boolean> {
  return (await ask(requestTo(node, "GET", "/readyz", null, 1_000))).status === 200;
}

async function until(isSo: () => Promise<boolean>, otherwise: string): Promise<void> {
  const endMs = performance.now() + patienceMs;
  while (!(await isSo())) {
    if (performance.now() > endMs) throw silent(otherwise);
    await Bun.sleep(pauseMs);
  }
}

function silent(reason: string): StoreError {
  return new StoreError({ kind: "node silent", reason });
}
