/** What must hold at once, holds on every node when its command returns. */
import { describe, expect, test } from "bun:test";
import { someLeads } from "../../test/builders.ts";
import { aCluster, type Cluster, missing, type Place, until } from "./cluster.ts";

/** Asks all servers with one key, again and again; tells when a request began that was answered with 200. */
function hammer(cluster: Cluster, key: string) {
  let isOver = false;
  let lastMs = 0;
  const asking = cluster.places.map(async (place) => {
    while (!isOver) {
      const begunMs = performance.now();
      const answer = await cluster
        .as(place, key)
        .get("/leads?limit=1")
        .catch(() => null);
      if (answer?.status === 200) lastMs = Math.max(lastMs, begunMs);
    }
  });
  return {
    /** When the last request began that was answered with leads. */
    async end(): Promise<number> {
      await Bun.sleep(300);
      isOver = true;
      await Promise.all(asking);
      return lastMs;
    },
  };
}

async function aKeyOf(cluster: Cluster, place: Place): Promise<{ id: string; key: string }> {
  const { status, stdout, stderr } = await cluster.admin(place).run("key", "create", cluster.account.id, "--json");
  if (status !== 0) throw new Error(stderr);
  const made = JSON.parse(stdout) as { id: string; key: string }; // As decided.
  for (const other of cluster.places) {
    await until(async () => (await cluster.as(other, made.key).get("/pixels")).status === 200);
  }
  return made;
}

async function revoke(cluster: Cluster, place: Place) {
  const { id, key } = await aKeyOf(cluster, place);
  const asking = hammer(cluster, key);
  await Bun.sleep(100);
  const begunMs = performance.now();
  const ended = await cluster.admin(place).run("key", "revoke", id, "--json");
  const returnedMs = performance.now();
  const lastMs = await asking.end();
  return { ...ended, key, tookMs: returnedMs - begunMs, acceptedAfterMs: lastMs - returnedMs };
}

describe.skipIf(missing !== null)(`a cluster of three nodes${missing === null ? "" : ` (${missing})`}`, () => {
  test("accepts a revoked key on no node once the command has returned", async () => {
    const cluster = await aCluster(someLeads(3));
    for (const place of cluster.places) {
      const { status, key, acceptedAfterMs, stderr } = await revoke(cluster, place);
      expect(status).toBe(0);
      expect(stderr).toBe("");
      expect(acceptedAfterMs).toBeLessThan(0);
      for (const other of cluster.places) {
        expect((await cluster.as(other, key).get("/leads")).body.error.code).toBe("revoked_api_key");
      }
    }
  });

  test.each([
    ["a follower", false],
    ["the leader", true],
  ])("names %s that stands still, within 6 s, and that node accepts the key never again", async (_, leads) => {
    const cluster = await aCluster(someLeads(3));
    const [follower, other] = await cluster.followers();
    const still = leads ? await cluster.leader() : follower;
    if (still === undefined || other === undefined) throw new Error("there are two followers");
    const { id, key } = await aKeyOf(cluster, other);
    const asking = hammer(cluster, key);
    still.engine.kill("SIGSTOP");
    const begunMs = performance.now();
    const ended = await cluster.admin(other).run("key", "revoke", id, "--json");
    const returnedMs = performance.now();
    expect(ended.status).toBe(0);
    expect(ended.stderr).toBe(
      `${still.node.name} could not be asked; it answers nobody until the rest of the cluster is heard again.\n`,
    );
    expect(returnedMs - begunMs).toBeLessThan(6_000);
    still.engine.kill("SIGCONT");
    await until(async () => (await cluster.as(still).get("/pixels")).status === 200);
    expect(await asking.end()).toBeLessThan(returnedMs);
    expect((await cluster.as(still, key).get("/leads")).body.error.code).toBe("revoked_api_key");
  });

  test("forgets no revocation over a kill of the node, whose file goes back in time as it starts", async () => {
    const cluster = await aCluster(someLeads(3));
    const [killed, other] = await cluster.followers();
    if (killed === undefined || other === undefined) throw new Error("there are two followers");
    const { id, key } = await aKeyOf(cluster, other);
    killed.engine.kill("SIGKILL");
    await killed.engine.exited;
    const asking = hammer(cluster, key);
    await cluster.admin(other).run("key", "revoke", id);
    const returnedMs = performance.now();
    await cluster.restart(killed);
    await until(async () => (await cluster.as(killed).get("/pixels")).status === 200);
    expect(await asking.end()).toBeLessThan(returnedMs);
  });

  test("a subscription that ends, ends on every node", async () => {
    const cluster = await aCluster(someLeads(3));
    const [place] = cluster.places;
    expect((await cluster.admin(place).run("account", "deactivate", cluster.account.name)).status).toBe(0);
    for (const other of cluster.places) expect((await cluster.as(other).get("/leads")).status).toBe(403);
    await cluster.admin(place).run("account", "activate", cluster.account.name);
    for (const other of cluster.places) {
      await until(async () => (await cluster.as(other).get("/leads")).status === 200);
    }
  });
});
