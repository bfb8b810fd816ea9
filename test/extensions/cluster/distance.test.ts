/** A cluster whose nodes are far from each other. */
import { expect, test } from "bun:test";
import { problemsOf } from "../../../extensions/cluster/findings.ts";
import type { ClusterStatus } from "../../../extensions/cluster/status.ts";
import { someLeads } from "../../support/builders.ts";
import { until } from "../../support/eventually.ts";
import { unless } from "../../support/needing.ts";
import { start } from "../../support/process.ts";
import { aCluster, expectSuccess, missing, settingsOf } from "./cluster.ts";

unless(missing).describe("nodes with a round trip of 250 ms", () => {
  test("serve without a pause, revoke without naming a node as unreachable, and serve again after a restart", async () => {
    const { account, places, followers } = await aCluster(someLeads(3), {}, 250);
    const [one, other] = await followers();
    const created = await one.admin.run("key", "create", account.id, "--json");
    const beganMs = performance.now();
    // Nothing on standard error: all nodes have confirmed it.
    expect(await one.admin.run("key", "revoke", created.json.id)).toMatchObject({ status: 0, stderr: "" });
    expect(performance.now() - beganMs).toBeLessThan(8_000);
    await other.server.end();
    const url = await start(settingsOf(other.node)).listening();
    await until(async () => (await fetch(`${url}/healthz`)).ok);
    const serving = places.filter((place) => place !== other);
    for (const endMs = performance.now() + 5_000; performance.now() < endMs; await Bun.sleep(50)) {
      const answers = await Promise.all(serving.map((place) => place.as().get("/pixels")));
      expect(answers.map(({ status }) => status)).toEqual([200, 200]);
    }
    const { nodes } = (await one.admin.run("cluster", "status", "--json")).json as unknown as ClusterStatus; // As promised.
    for (const node of nodes) {
      const isLocal = node.name === one.node.name;
      if (isLocal) continue;
      expect(node.round_trip_ms).toBeGreaterThanOrEqual(250);
    }
    const far = nodes.map((node) => ({ ...node, round_trip_ms: 301 }));
    const [found] = problemsOf({ nodes: far, has_majority: true, spread_keys: [], may_replace_leader: true });
    expect(found?.what).toMatch(/takes 301 ms, but at most 300 ms are supported/);
    expectSuccess(await other.admin.run("lead", "export", account.id));
  });
});
