/** A node that lacks some of what was written, as rqlite leaves one whose disk was full: nobody is served from it. */
import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { mkdirSync, rmSync } from "node:fs";
import { startNode } from "../../../extensions/cluster/local-cluster.ts";
import { untilReady } from "../../../extensions/cluster/members.ts";
import { someLeads } from "../../support/builders.ts";
import { unless } from "../../support/needing.ts";
import { aCluster, answerOf, type Cluster, missing, type Place, until, watched } from "./cluster.ts";
import { rqlited } from "./nodes.ts";

/** Takes the last write from one node behind the back of rqlite, and writes once more. */
async function loseWrite(cluster: Cluster, place: Place, other: Place): Promise<void> {
  await cluster.admin(other).run("account", "create", "birch");
  using file = new Database(place.node.path);
  const isThere = (name: string) => file.prepare("SELECT 1 FROM accounts WHERE name = ?").get(name) !== null;
  await until(() => isThere("birch"));
  file.run("DELETE FROM cluster_writes WHERE number = (SELECT max(number) FROM cluster_writes)");
  await cluster.admin(other).run("account", "create", "cedar");
  await until(() => isThere("cedar"));
}

async function joinAnew(place: Place, other: Place): Promise<void> {
  place.engine.kill("SIGTERM");
  await place.engine.exited;
  rmSync(place.node.folder, { recursive: true });
  mkdirSync(place.node.folder, { mode: 0o750 });
  place.engine = watched(startNode(rqlited, place.node, { others: [other.node] }));
  await untilReady(place.node);
}

unless(missing).describe("a cluster of three nodes", () => {
  test("lets nobody work with a node that lacks writes, and names it, until it has joined anew", async () => {
    const cluster = await aCluster(someLeads(3));
    const [place] = await cluster.followers();
    const other = await cluster.leader();
    if (place === undefined) throw new Error("there are followers");
    await loseWrite(cluster, place, other);
    const { name } = place.node;
    const said = `${name} lacks writes that other nodes have, as after a full disk. Stop it, delete its folder, and`;
    for (const each of [place, other]) {
      expect((await cluster.admin(each).run("cluster", "status")).stdout).toContain(said);
    }
    expect((await cluster.admin(other).run("doctor")).status).toBe(2);
    const refused = await cluster.admin(place).run("key", "list", cluster.account.id);
    expect(refused).toMatchObject({
      status: 1,
      stderr: expect.stringMatching(/^The local rqlite node and the leader/),
    });
    expect((await cluster.admin(other).run("key", "list", cluster.account.id)).status).toBe(0);
    await until(async () => (await cluster.as(place).get("/leads")).status === 500);
    await joinAnew(place, other);
    expect((await answerOf(cluster.as(place), "/leads")).status).toBe(200);
    expect((await cluster.admin(place).run("cluster", "status")).stdout).not.toContain("lacks");
  });
});
