/** A revoked source and an erased person are so on every node when the command returns, for deliveries too. */
import { expect, test } from "bun:test";
import { anAdmin } from "../../support/admin.ts";
import { someLeads } from "../../support/builders.ts";
import { until } from "../../support/eventually.ts";
import { unless } from "../../support/needing.ts";
import { aCluster, type Cluster, expectSuccess, missing, type Place, settingsOf } from "./cluster.ts";

/** Creates a source through one node, and receives deliveries next to another one. Returns the address of the source. */
async function receive({ account }: Cluster, { node }: Place, { admin }: Place, everySeconds = 3_600) {
  const created = await admin.run("source", "create", account.id, "--pixel", "px_site", "--json");
  const { id } = created.json;
  const { pathname } = new URL(String(created.json["url"]));
  const settings = { ...settingsOf(node), RECEIVE_HOST: new URL(node.url).hostname, RECEIVE_PORT: "0" };
  const { end, listening } = anAdmin([], settings).start("receive", "--every", String(everySeconds));
  const address = (await listening()) + pathname;
  await until(async () => (await deliver(address, "gone@example.com", "stays@example.com")) === 200);
  return { id, address, end };
}

async function deliver(address: string, ...emails: readonly string[]): Promise<number> {
  const body = emails.map((email) => JSON.stringify({ email, name: "Some One" })).join("\n");
  const answer = await fetch(address, { method: "POST", headers: { "Content-Type": "application/x-ndjson" }, body });
  return answer.status;
}

/** Removes the server of a node, as if none had ever run there. */
async function forgetServer({ node, server }: Place): Promise<void> {
  await server.end("SIGKILL");
  const body = JSON.stringify([["DELETE FROM cluster_nodes WHERE name = ?", node.name]]);
  const headers = { "Content-Type": "application/json" };
  const answer = await fetch(`${node.url}/db/execute`, { method: "POST", headers, body });
  expect(await answer.json()).toMatchObject({ results: [{ rows_affected: 1 }] });
}

unless(missing).describe("a delivery to a cluster", () => {
  test("is rejected next to a node without a server once the source is revoked, or once the node has left", async () => {
    const cluster = await aCluster(someLeads(1));
    const [place, other] = await cluster.followers();
    await forgetServer(place);
    const source = await receive(cluster, place, other);
    place.engine.kill("SIGSTOP");
    const ended = await other.admin.run("source", "revoke", source.id, "--yes");
    const status = await deliver(source.address, "two@example.com");
    place.engine.kill("SIGCONT");
    expectSuccess(ended);
    expect(ended.stderr).toContain(`${place.node.name} is unreachable`);
    expect(status).toBe(503);
    await until(async () => (await deliver(source.address, "two@example.com")) === 401);
    await source.end();
    const { address } = await receive(cluster, place, other);
    expect((await other.admin.run("cluster", "leave", place.node.name)).stderr).toBe("");
    expect(await deliver(address, "two@example.com")).toBe(503);
  });

  test("is not imported for a person who is erased through another node while it is pending", async () => {
    const cluster = await aCluster(someLeads(1));
    const [one, two] = cluster.places;
    const { account } = cluster;
    await receive(cluster, one, one, 10);
    expectSuccess(await two.admin.run("lead", "erase", account.id, "--email", "gone@example.com"));
    await until(async () => (await two.admin.exported(account.id)).includes("stays@example.com"));
    expect(await two.admin.exported(account.id)).not.toContain("gone@example.com");
  });
});
