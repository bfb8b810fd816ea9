/** A server of a cluster that is stopped in order while what it has counted finds no leader. */
import { expect, test } from "bun:test";
import { aLead } from "../../support/builders.ts";
import { unless } from "../../support/needing.ts";
import { aCluster, missing } from "./cluster.ts";
import { printedBy } from "./nodes.ts";

/** A cluster whose leader was just killed, two servers that are left, and a key with some pages that one has answered. */
async function withoutLeader() {
  const lead = aLead();
  const cluster = await aCluster([lead]);
  const [place, other] = await cluster.followers();
  if (place === undefined || other === undefined) throw new Error("there are two followers");
  const { key, id } = (await cluster.admin(place).run("key", "create", cluster.account.id, "--json")).json;
  const leader = await cluster.leader();
  leader.engine.kill("SIGKILL");
  await leader.engine.exited;
  let answered = 0;
  for (let asked = 0; asked < 20; asked++) {
    if ((await cluster.as(place, key).get("/leads")).status === 200) answered++;
  }
  expect(answered).toBeGreaterThan(0);
  return { cluster, lead, place, other, id, answered };
}

unless(missing).describe("a cluster of three nodes", () => {
  test("knows each request and recipient of a server that stopped before there was another leader", async () => {
    const { cluster, lead, place, other, id, answered } = await withoutLeader();
    expect([await place.server.end("SIGTERM"), place.server.errors()]).toEqual([0, ""]);
    const admin = cluster.admin(other);
    const keys = await printedBy<{ id: string; requests_this_month: number }[]>(() =>
      admin.run("key", "list", cluster.account.id, "--json"),
    );
    expect(keys.find((key) => key.id === id)?.requests_this_month).toBe(answered);
    const found = await admin.run("lead", "find", cluster.account.id, "--id", lead.id, "--json");
    expect(found.json["received"]).toMatchObject([{ id: lead.id, key: id }]);
  });

  test("is told by a server that stops without a majority that its last counts are lost", async () => {
    const { place, other } = await withoutLeader();
    other.engine.kill("SIGKILL");
    expect(await place.server.end("SIGTERM")).toBe(1);
    expect(place.server.errors()).toMatch(/^The last request counts and the record .+ were lost \(.+\)\./);
  });
});
