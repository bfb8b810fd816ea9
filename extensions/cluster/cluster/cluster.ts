/** A cluster as the commands see it that look after it, from beside one of its nodes. */

import { existsSync } from "node:fs";
import { count, type SQL, sql } from "drizzle-orm";
import { draftOf, removeDraft } from "../../../src/db/atomic-file.ts";
import { takeLock } from "../../../src/db/locks/process-lock.ts";
import { pendingMigrations } from "../../../src/db/migrate.ts";
import { openDatabase } from "../../../src/db/open.ts";
import { leads, nodes } from "../../../src/db/schema.ts";
import { isFileOfNode } from "../../../src/store/database-files.ts";
import { StoreError } from "../../../src/store/errors.ts";
import { UserError } from "../../../src/user-error.ts";
import { clockMarginMs, leaseMs } from "../lease/lease.ts";
import { openLocalFile } from "../local-file.ts";
import { checkBeside } from "../node/beside.ts";
import { listMembers } from "../node/members.ts";
import { ask, questionRequest, type RqliteNode, readNumber, requestTo } from "../node/node.ts";
import { stateOf } from "../node/state.ts";
import { statementOf } from "../node/statement.ts";
import { scrubNode } from "../privacy/scrub.ts";
import { openWriter, type Writer } from "../writer.ts";
import type { Cluster } from "./node-status.ts";
import { askCluster } from "./status.ts";

const timeoutMs = 10_000;

export function openCluster(path: string, node: RqliteNode): Cluster {
  return {
    begin: (file) => beginWith(node, file),
    async status() {
      using local = openLocalFile(path);
      return await askCluster(node, local.current(), Date.now());
    },
    checkBeside: (name) => checkBeside(node, name, path),
    migrate: () => withWriter(path, node, async (writer) => migrate(writer)),
    scrub: (around) => withWriter(path, node, (writer) => scrubNode(node, writer, around)),
    leave: (name) => withWriter(path, node, (writer) => removeNode(node, writer, name)),
  };
}

async function withWriter<Result>(
  path: string,
  node: RqliteNode,
  work: (writer: Writer) => Promise<Result>,
): Promise<Result> {
  using writer = openWriter(path, node);
  return await work(writer);
}

/** Copies the file, page by page of what lives, and hands the copy to the node. */
async function beginWith(node: RqliteNode, file: string): Promise<{ leads: number }> {
  if (!existsSync(file)) throw new UserError(`There is no file ${file}.`, "Name a Leadfile database.");
  if (isFileOfNode(file)) throw new StoreError({ kind: "file of a node", path: file });
  await refuseUsed(node);
  const release = takeLock(file);
  if (release === null) {
    throw new UserError(`${file} is open in a server or another program.`, "Stop it, then run the command again.");
  }
  const draft = draftOf(file);
  const database = openDatabase(file);
  try {
    database.run(sql`VACUUM INTO ${draft}`);
    const all = database.select({ leads: count() }).from(leads).get()?.leads ?? 0;
    await boot(node, draft);
    const taken = await countIn(node, sql`${leads}`);
    if (taken !== all) throw new Error(`the node has ${taken} leads, and the file ${all}`);
    return { leads: all };
  } catch (cause) {
    if (cause instanceof StoreError) throw cause;
    throw new StoreError({ kind: "node silent", reason: cause instanceof Error ? cause.message : "unknown" });
  } finally {
    removeDraft(draft);
    database.$client.close();
    release();
  }
}

/** A boot replaces all that a node has, and must never meet what somebody needs. */
async function refuseUsed(node: RqliteNode): Promise<void> {
  const members = await listMembers(node);
  const isUsed = members.length > 1 || (await countIn(node, sql`sqlite_schema`)) > 0;
  if (isUsed) throw new StoreError({ kind: "node in use", url: node.url });
}

/** Hands a file, with no log beside it, to a node. Throws where the node does not take it. */
async function boot({ url, authorization }: RqliteNode, file: string): Promise<void> {
  const headers: Record<string, string> = { "Content-Type": "application/octet-stream" };
  if (authorization !== null) headers["Authorization"] = authorization;
  const answer = await fetch(`${url}/boot`, { method: "POST", headers, body: Bun.file(file) });
  const said = (await answer.text()).trim();
  if (answer.status !== 200) throw new Error(said === "" ? `the node answered ${answer.status}` : said);
}

/** How many rows a node has in a table. */
async function countIn(node: RqliteNode, table: SQL): Promise<number> {
  const counted = statementOf(sql`SELECT count(*) FROM ${table}`);
  return readNumber(await ask(questionRequest(node, counted, "linearizable", timeoutMs)));
}

/** A node that was removed hears nothing new, and others would not wait for its server: that one has to fall silent first. */
async function removeNode(node: RqliteNode, writer: Writer, name: string): Promise<void> {
  const members = await listMembers(node);
  const names = members.map((member) => member.name);
  writer.catchUp();
  const servers = writer.file.current().select({ name: nodes.name }).from(nodes).all();
  // Where rqlite has removed the node already, revocations wait for its server still.
  const isKnown = names.includes(name) || servers.some((server) => server.name === name);
  if (!isKnown) throw new StoreError({ kind: "no such node", name, names });
  const others = members.filter((member) => member.isVoter && member.name !== name);
  const reached = (await Promise.all(others.map(stateOf))).filter((told) => told !== null);
  if (reached.length * 2 <= others.length) throw new StoreError({ kind: "no majority without", name });
  // Where no server has told of itself, what takes deliveries beside the node has to hear of it all the same.
  const unknown = sql`VALUES (${name}, '', '', ${Date.now()}, 1)`;
  const leaving = sql`INSERT INTO ${nodes} (name, url, version, started_at, leaving) ${unknown}
    ON CONFLICT (name) DO UPDATE SET leaving = 1`;
  writer.commit([statementOf(leaving)]);
  await Bun.sleep(leaseMs + clockMarginMs);
  if (names.includes(name)) await removeMember(node, name);
  writer.commit([statementOf(sql`DELETE FROM ${nodes} WHERE name = ${name} AND leaving = 1`)]);
}

async function removeMember(node: RqliteNode, name: string): Promise<void> {
  const request = requestTo(node, "DELETE", "/remove", JSON.stringify({ id: name }), timeoutMs);
  const { status, text } = await ask(request);
  if (status !== 200) throw new StoreError({ kind: "node silent", reason: text.trim() || `it answered ${status}` });
}

/**
 * Makes what the schema lacks, each migration whole; says how many there were. Servers of the version before go on
 * meanwhile, which is why a migration may add to what is there and takes nothing away.
 */
function migrate(writer: Writer): number {
  writer.catchUp();
  const pending = pendingMigrations(writer.file.current());
  for (const { statements, hash, madeMs } of pending) {
    const made = sql`INSERT INTO __drizzle_migrations (hash, created_at) VALUES (${hash}, ${madeMs})`;
    writer.commit([...statements.map((text) => ({ sql: text, json: "[]" })), statementOf(made)]);
  }
  return pending.length;
}
