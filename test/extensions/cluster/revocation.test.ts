/** What must hold at once, holds on every node when its command returns. */
import { expect, test } from "bun:test";
import { someLeads } from "../../support/builders.ts";
import { least } from "../../support/least.ts";
import { unless } from "../../support/needing.ts";
import { aCluster, answerOf, type Cluster, missing, type Place, until } from "./cluster.ts";

/** Asks all servers with one key, again and again; tells when a request began that was answered with 200. */
function hammer(cluster: Cluster, key: string) {
  let isOver = false;
  let lastMs = 0;
  const answered = cluster.places.map(() => 0);
  const asking = cluster.places.map(async (place, number) => {
    while (!isOver) {
      const begunMs = performance.now();
      const answer = await cluster
        .as(place, key)
        .get("/leads?limit=1")
        .catch(() => null);
      if (answer !== null) answered[number] = (answered[number] ?? 0) + 1;
      if (answer?.status === 200) lastMs = Math.max(lastMs, begunMs);
      // Nodes and commands need the machine, too.
      await Bun.sleep(2);
    }
  });
  /** Waits until every node has given so many more answers. */
  async function answers(more: number): Promise<void> {
    const enough = answered.map((times) => times + more);
    await until(() => answered.every((times, number) => times >= (enough[number] ?? 0)));
  }
  return {
    answers,
    /** When the last request began that was answered with leads; every node was asked often enough since now. */
    async end(): Promise<number> {
      await answers(50);
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

/** Revokes a key that clients use on all nodes. */
async function revoke(cluster: Cluster, place: Place) {
  const { id, key } = await aKeyOf(cluster, place);
  const asking = hammer(cluster, key);
  await asking.answers(10);
  const ended = await cluster.admin(place).run("key", "revoke", id, "--json");
  const returnedMs = performance.now();
  const lastMs = await asking.end();
  return { ...ended, key, acceptedAfterMs: lastMs - returnedMs };
}

/** The same while the node of a place stands still; gives how long the command took. */
async function revokeBeside(cluster: Cluster, still: Place, other: Place): Promise<number> {
  const { id, key } = await aKeyOf(cluster, other);
  const asking = hammer(cluster, key);
  still.engine.kill("SIGSTOP");
  const begunMs = performance.now();
  const ended = await cluster.admin(other).run("key", "revoke", id, "--json");
  const returnedMs = performance.now();
  still.engine.kill("SIGCONT");
  expect(ended.status === 0 ? "" : ended.stderr).toBe("");
  // Another one may be named beside it, where the machine has other work to do.
  const named = /^(.+) (?:is|are) unreachable\. (?:It serves|They serve) nobody until/m;
  expect(named.exec(ended.stderr)?.[1]?.split(", ")).toContain(still.node.name);
  await answerOf(cluster.as(still), "/pixels");
  expect(await asking.end()).toBeLessThan(returnedMs);
  expect(await codeOf(cluster, still, key)).toBe("revoked_api_key");
  return returnedMs - begunMs;
}

async function codeOf(cluster: Cluster, place: Place, key: string): Promise<string> {
  return (await answerOf(cluster.as(place, key), "/leads")).body.error.code;
}

unless(missing).describe("a cluster of three nodes", () => {
  test("accepts a revoked key on no node once the command has returned", async () => {
    const cluster = await aCluster(someLeads(3));
    const said: string[] = [];
    for (const place of cluster.places) {
      const { status, key, acceptedAfterMs, stderr } = await revoke(cluster, place);
      said.push(stderr);
      expect(status === 0 ? "" : stderr).toBe("");
      expect(acceptedAfterMs).toBeLessThan(0);
      for (const other of cluster.places) expect(await codeOf(cluster, other, key)).toBe("revoked_api_key");
    }
    // A node that nobody lets run for four seconds is named; that happens to one of these at most.
    expect(said.filter((one) => one === "").length).toBeGreaterThan(1);
  });

  test.each([
    ["a follower", false],
    ["the leader", true],
  ])("names %s that stands still, within 10 s, and that node accepts the key never again", async (_, leads) => {
    const cluster = await aCluster(someLeads(3));
    const tookMs = await least(10_000, async () => {
      const [follower, other] = await cluster.followers();
      const still = leads ? await cluster.leader() : follower;
      if (still === undefined || other === undefined) throw new Error("there are two followers");
      return revokeBeside(cluster, still, other);
    });
    expect(tookMs).toBeLessThan(10_000);
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
    await answerOf(cluster.as(killed), "/pixels");
    expect(await asking.end()).toBeLessThan(returnedMs);
  });

  test("a subscription that ends, ends on every node", async () => {
    const cluster = await aCluster(someLeads(3));
    const [place] = cluster.places;
    expect((await cluster.admin(place).run("account", "deactivate", cluster.account.name)).status).toBe(0);
    for (const other of cluster.places) expect((await answerOf(cluster.as(other), "/leads")).status).toBe(403);
    await cluster.admin(place).run("account", "activate", cluster.account.name);
    for (const other of cluster.places) {
      await until(async () => (await cluster.as(other).get("/leads")).status === 200);
    }
  });
});
