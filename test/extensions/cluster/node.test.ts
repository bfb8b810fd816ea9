/** The answers of an rqlite node and the requests to it. A stand-in takes the place of the node. */
import type { Database } from "bun:sqlite";
import { expect, onTestFinished, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { sql } from "drizzle-orm";
import { openClusterDatabase } from "../../../extensions/cluster/database.ts";
import { problemsOf } from "../../../extensions/cluster/findings.ts";
import { listMembers } from "../../../extensions/cluster/members.ts";
import { execute, NoAnswer, query, textAndValues } from "../../../extensions/cluster/node.ts";
import { openNodeFile } from "../../../extensions/cluster/node-file.ts";
import { openClusterStore } from "../../../extensions/cluster/served-store.ts";
import { askCluster } from "../../../extensions/cluster/status.ts";
import { tableStatements } from "../../../extensions/cluster/transactions.ts";
import { WriteRefused } from "../../../src/db/connection.ts";
import { openDatabase } from "../../../src/db/open.ts";
import { anAdmin } from "../../support/admin.ts";
import { noonMs } from "../../support/builders.ts";
import { aKey, anAccount, openTestDatabase } from "../../support/database.ts";
import { until } from "../../support/eventually.ts";
import { aFolder } from "../../support/folder.ts";
import { standIn } from "./nodes.ts";

test.each([
  [200, '{"results":[{"last_insert_id":1,"rows_affected":1},{}]}', null],
  [200, '{"results":[{"rows_affected":1},{"error":"UNIQUE constraint failed: keys.id"}]}', WriteRefused],
  [200, '{"results":[],"error":"node failed to process Execute on remote node: broken pipe"}', NoAnswer],
  [200, '{"results":[]}', NoAnswer],
  [200, "{", NoAnswer],
  [503, "leader not found", NoAnswer],
  [500, "leadership lost while committing log", NoAnswer],
  [401, "", NoAnswer],
  // The other nodes apply a write that the disk of the leader could not take.
  [200, '{"results":[{"error":"database or disk is full"}]}', "hands the role over"],
  [200, '{"results":[{"error":"disk I/O error"}]}', "hands the role over"],
  [200, '{"results":[{"error":"attempt to write a readonly database"}]}', "hands the role over"],
])("an answer to a write with the status %d and %s means %p", async (status, text, outcome) => {
  let asked = "";
  const node = standIn(({ url }) => {
    asked = url;
    return new Response(text, { status });
  });
  const failed: unknown = await execute(node, [], 400).catch((cause) => cause);
  if (outcome === null) expect(failed).toBeUndefined();
  else expect(failed).toBeInstanceOf(typeof outcome === "function" ? outcome : NoAnswer);
  // With a time limit within the node, such as db_timeout, one node would roll back what the others have.
  const path = outcome === "hands the role over" ? "/leader?wait=true" : "/db/execute?timeout=400ms&transaction";
  expect(asked).toBe(node.url + path);
});

test.each([
  [200, '{"results":[],"error":"no leader"}'],
  [503, ""],
])("an answer to a question with the status %d and %j has no value", async (status, text) => {
  const node = standIn(() => new Response(text, { status }));
  expect(query(node, sql`SELECT 1`, "none", 400)).rejects.toBeInstanceOf(NoAnswer);
});

test("a statement has all values in one JSON text, so that no text is read as bytes", () => {
  const [text, json] = textAndValues(sql`SELECT ${"x'41'"}, '?', ${7}, ${null}, ${Buffer.from("AB")}`);
  expect(text).toBe(
    "SELECT json_extract(?1, '$[0]'), '?', json_extract(?1, '$[1]'), json_extract(?1, '$[2]'), unhex(json_extract(?1, '$[3]'))",
  );
  expect(JSON.parse(json)).toEqual(["x'41'", 7, null, "4142"]);
});

/** The list of nodes of a node that is alone. */
const alone = { nodes: [{ id: "n1", voter: true, leader: true }] };

test("a read after an abandoned write is tried with longer timeouts until there is an answer", async () => {
  let isUp = false;
  const node = standIn(async ({ url }) => {
    if (!isUp) return new Response("leader not found", { status: 503 });
    if (url.includes("/nodes")) return Response.json(alone);
    // Longer than the first timeout.
    await Bun.sleep(1_200);
    return Response.json({ results: [{ values: [[JSON.stringify([null, null, Date.now(), 0])]] }] });
  });
  const database = openClusterDatabase(openNodeFile(""), node);
  await expect(database.apply("one", [], 0)).rejects.toThrow("The write timed out (leader not found)");
  isUp = true;
  await database.catchUp();
});

test("a server that was started before cluster migrate creates the tables of its flush", async () => {
  const path = join(aFolder(), "db.sqlite");
  const file = openTestDatabase(path);
  aKey(file, anAccount(file));
  for (const statement of tableStatements) file.read.run(statement);
  file.read.run("DROP TABLE cluster_last_flushes");
  const server = openClusterStore(path, aSimulatedNode(file.read.$client), true);
  await server.listening("http://127.0.0.1:1");
  server.usage.count(1, noonMs);
  server.flush();
  await server.fsync();
  expect(server.usage.of(1, noonMs)).toEqual({ today: 1, month: 1 });
  expect(file.read.$client.query("SELECT requests FROM usage").all()).toEqual([{ requests: 1 }]);
  await server.close();
  file.close();
});

test("a server that stops before it is registered keeps the gap of a previous server that was killed", async () => {
  const path = join(aFolder(), "db.sqlite");
  const file = openTestDatabase(path);
  for (const statement of tableStatements) file.read.run(statement);
  file.read.run("INSERT INTO ledger_gaps (node, begins_at, reason) VALUES ('n1', 1, 'stop')");
  await openClusterStore(path, aSimulatedNode(file.read.$client), true).close();
  expect(file.read.$client.query("SELECT begins_at, ends_at FROM ledger_gaps").values()).toEqual([[1, null]]);
  file.close();
});

/** A node without others that runs statements on its file. */
function aSimulatedNode(file: Database) {
  const node = standIn(async (request) => {
    const { pathname } = new URL(request.url);
    if (pathname === "/nodes") {
      return Response.json({ nodes: [{ id: "n1", api_addr: node.url, voter: true, leader: true }] });
    }
    if (pathname === "/status") return Response.json({});
    const statements = (await request.json()) as [text: string, values: string][]; // As execute and query send them.
    try {
      const results = file.transaction(() =>
        statements.map(([text, values]) => ({
          values: file.query(text).values(...(text.includes("?1") ? [values] : [])),
        })),
      )();
      return Response.json({ results });
    } catch (cause) {
      return Response.json({ results: [{ error: String(cause) }] });
    }
  });
  return node;
}

test("a node that was restarted is listed, although other nodes have broken connections to it", async () => {
  let broken = 3;
  const node = standIn(() => {
    const error = "write length: write tcp 10.0.0.1:51524->10.0.0.3:4002: write: broken pipe";
    const restarted = broken-- > 0 ? { error } : { api_addr: "http://10.0.0.3:4001" };
    return Response.json({ nodes: [{ id: "n3", voter: true, ...restarted }] });
  });
  expect(await listMembers(node)).toMatchObject([{ name: "n3", url: "http://10.0.0.3:4001" }]);
});

test("the time limits of nodes grow with the round trip that their list has measured", async () => {
  const asked: string[] = [];
  const node = standIn(({ url }) => {
    asked.push(new URL(url).searchParams.get("timeout") ?? "");
    const far = { id: "n2", api_addr: "http://10.0.0.2:4001", time: 0.2 };
    return Response.json({ nodes: [{ ...far, id: "n1", time: 0.001 }, far, { id: "n3", error: "timeout", time: 2 }] });
  });
  for (const _ of ["near", "measured"]) await listMembers(node, 300);
  expect([asked, node.known.roundTripMs]).toEqual([["300ms", "1100ms"], 200]);
});

test.each([
  [2_500, "The clock of n3 is 2.5 s ahead of the others."],
  [-31_000, "The clock of n3 is 31.0 s behind the others."],
  [1_500, undefined],
])("a clock that is %d ms off is named from 2 s on", async (offMs, named) => {
  const listed: object[] = [];
  const [node, ...others] = [0, 0, offMs].map((off) =>
    standIn(async (request) => {
      if (request.url.includes("/nodes")) return Response.json({ nodes: listed });
      if (request.url.includes("/status")) return Response.json({});
      const isForClock = (await request.text()).includes("unixepoch");
      const value = isForClock ? JSON.stringify([null, null, Date.now() + off]) : "[]";
      return Response.json({ results: [{ values: [[value]] }] });
    }),
  );
  if (node === undefined) throw new Error("there is a node");
  for (const { url } of [node, ...others]) listed.push({ id: `n${listed.length + 1}`, api_addr: url, voter: true });
  const database = openDatabase(join(aFolder(), "leadfile.db"));
  onTestFinished(() => database.$client.close());
  for (const statement of tableStatements) database.run(statement);
  const problems = problemsOf(await askCluster(node, database, noonMs)).map(({ what }) => what);
  expect(problems.find((what) => what.includes("clock"))).toBe(named);
});

test("a signal ends a backup of a cluster while the node still sends it, and no part of it is left", async () => {
  const whole = anAdmin();
  await whole.import(`date,pixel_id,email\n${"2026-01-31,px,d@example.com\n".repeat(20_000)}`);
  const file = join(whole.folder, "db.sqlite");
  await whole.run("backup", file);
  // A command recognizes the folder of a node by this file.
  whole.put("raft.db", "");
  const half = readFileSync(file).subarray(0, 1 << 20);
  const send = (controller: ReadableStreamDefaultController) => controller.enqueue(half);
  const node = standIn(({ url }) => {
    if (url.includes("/db/backup")) return new Response(new ReadableStream({ start: send }));
    if (url.includes("/nodes")) return Response.json(alone);
    return Response.json({ results: [{ values: [[JSON.stringify([null, null, Date.now(), 0])]] }] });
  });
  const admin = anAdmin([], { CLUSTER: node.url, NODE_NAME: "n1", DATABASE_PATH: file });
  const filesIn = () => readdirSync(admin.folder).filter((name) => !/^\.bun|-(?:wal|shm)$/.test(name));
  const before = filesIn();
  const child = admin.start("backup", join(admin.folder, "copy.db"));
  await until(() => filesIn().length > before.length, 1);
  expect([await child.end("SIGINT"), child.errors()]).toEqual([
    130,
    "Stopped. No backup was made, and the partial copy was deleted. Run it again to complete it.\n",
  ]);
  expect(filesIn()).toEqual(before);
});
