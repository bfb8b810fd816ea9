/** Who received a lead of a cluster: each server notes its own pages, of whatever key, in the ledger of all. */
import { expect, test } from "bun:test";
import { join } from "node:path";
import { someLeads } from "../../support/builders.ts";
import { aFolder } from "../../support/folder.ts";
import { unless } from "../../support/needing.ts";
import { aCluster, answerOf, type Cluster, missing, until } from "./cluster.ts";
import { printedBy } from "./nodes.ts";

/** A key that each node knows. */
async function aKeyOf(cluster: Cluster) {
  const [place] = cluster.places;
  const { key, id } = (await cluster.admin(place).run("key", "create", cluster.account.id, "--json")).json;
  for (const one of cluster.places) await until(async () => (await cluster.as(one, key).get("/pixels")).status === 200);
  return { key, id };
}

unless(missing).describe("a cluster of three nodes", () => {
  test("knows who received each lead, though servers answered the same key in turn", async () => {
    const leads = someLeads(200);
    const cluster = await aCluster(leads);
    const [place] = cluster.places;
    const keys = [await aKeyOf(cluster), await aKeyOf(cluster)];
    const received = new Set<string>();
    for (let asked = 0; asked < 300; asked++) {
      const [at, key] = [cluster.places[asked % 3] ?? place, keys[asked % 2]];
      // Pages at random: they overlap, touch and lie apart. Half of all leads are given to nobody.
      const before = leads[(asked * 7919) % 100]?.identified_at ?? "";
      const limit = 1 + ((asked * 31) % 9);
      const { body } = await answerOf(cluster.as(at, key?.key), `/leads?limit=${limit}&before=${before}`);
      for (const { id } of body.data) received.add(`${id} ${key?.id}`);
    }
    // A stop writes what was noted last.
    for (const { server } of cluster.places) expect(await server.end("SIGTERM")).toBe(0);
    const list = join(aFolder(), "list");
    await Bun.write(list, leads.map(({ id }) => id).join("\n"));
    const found = await printedBy<{ received: { id: string; key: string }[] }[]>(() =>
      cluster.admin(place).run("lead", "find", cluster.account.id, "--list", list, "--json"),
    );
    const said = found.flatMap((person) => person.received.map(({ id, key }) => `${id} ${key}`));
    expect(said.toSorted()).toEqual([...received].toSorted());
  });
});
