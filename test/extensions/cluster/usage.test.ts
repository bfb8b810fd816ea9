/** The usage of a server that is killed: it loses no more than docs/cluster.md promises. */
import { expect, test } from "bun:test";
import { someLeads } from "../../support/builders.ts";
import { unless } from "../../support/needing.ts";
import { aCluster, type Cluster, missing, type Place } from "./cluster.ts";
import { printedBy } from "./nodes.ts";

/** Requests pages with a new key, and returns the times of the answers, until `end` is called. */
async function readAll({ account }: Cluster, place: Place) {
  const { id, key } = (await place.admin.run("key", "create", account.id, "--json")).json;
  const answeredMs: number[] = [];
  let isOver = false;
  async function ask(): Promise<void> {
    for (; !isOver; await Bun.sleep(5)) {
      const { status } = await place.as(key).get("/pixels");
      if (status === 200) answeredMs.push(performance.now());
    }
  }
  const asking = ask().catch(() => {});
  return {
    answeredMs,
    async end(): Promise<void> {
      isOver = true;
      await asking;
    },
    /** The requests of the key that another node knows. */
    async counted(by: Place): Promise<number> {
      const list = () => by.admin.run("key", "list", account.id, "--json");
      const keys = await printedBy<{ id: string; requests_this_month: number }[]>(list);
      return keys.find((one) => one.id === id)?.requests_this_month ?? 0;
    },
  };
}

unless(missing).describe("a server that is killed", () => {
  test("loses at most the usage of its last five seconds, or of two seconds if there is a leader", async () => {
    const cluster = await aCluster(someLeads(1));
    const [leader, [one, other]] = [await cluster.leader(), await cluster.followers()];
    const [withLeader, without] = [await readAll(cluster, one), await readAll(cluster, other)];
    await Bun.sleep(4_000);
    const killedMs = performance.now();
    await one.server.end("SIGKILL");
    await withLeader.end();
    const early = withLeader.answeredMs.filter((ms) => ms < killedMs - 2_000).length;
    expect(early).toBeGreaterThan(0);
    expect(await withLeader.counted(other)).toBeGreaterThanOrEqual(early);
    // The last node cannot elect a leader: its server serves until its lease ends.
    await Promise.all([one.kill(), leader.kill()]);
    const lastMs = () => without.answeredMs.at(-1) ?? 0;
    while (performance.now() - lastMs() < 500) await Bun.sleep(20);
    await other.server.end("SIGKILL");
    await without.end();
    await Promise.all([one.restart(), leader.restart()]);
    const stored = without.answeredMs.filter((ms) => ms < lastMs() - 5_000).length;
    expect(stored).toBeGreaterThan(0);
    expect(await without.counted(other)).toBeGreaterThanOrEqual(stored);
    expect(await without.counted(other)).toBeLessThanOrEqual(without.answeredMs.length);
  });
});
