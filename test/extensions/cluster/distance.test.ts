/** A cluster whose nodes are far from each other. */
import { expect, test } from "bun:test";
import { problemsOf } from "../../../extensions/cluster/findings.ts";
import { withinDistance } from "../../../extensions/cluster/members.ts";
import type { ClusterStatus } from "../../../extensions/cluster/status.ts";
import { someLeads } from "../../support/builders.ts";
import { least, until } from "../../support/eventually.ts";
import { unless } from "../../support/needing.ts";
import { start } from "../../support/process.ts";
import { aCluster, expectSuccess, missing, settingsOf } from "./cluster.ts";
import { standIn } from "./nodes.ts";

test("a time limit grows with the measured round trip, up to the longest supported one", () => {
  const node = standIn(() => new Response());
  const limits = [0, 100, 300, 2_000].map((roundTripMs) =>
    withinDistance({ ...node, known: { ...node.known, roundTripMs } }, 1_000),
  );
  expect(limits).toEqual([1_000, 1_400, 2_200, 2_200]);
});

/** The time of a revocation without network delay: mostly the startup of the command. */
const nearMs = 2_000;

unless(missing).describe("nodes with a long round trip", () => {
  test("serve without a pause, revoke without naming a node as unreachable, and serve again after a restart", async () => {
    const distance = { roundTripMs: 100 };
    const { account, places, followers } = await aCluster(someLeads(3), {}, distance);
    const [one, other] = await followers();
    async function revoke(): Promise<number> {
      const created = await one.admin.run("key", "create", account.id, "--json");
      const beganMs = performance.now();
      // Nothing on standard error: all nodes have confirmed it.
      expect(await one.admin.run("key", "revoke", created.json.id)).toMatchObject({ status: 0, stderr: "" });
      return performance.now() - beganMs;
    }
    for (distance.roundTripMs of [100, 200, 300]) {
      const maxMs = nearMs + 8 * distance.roundTripMs;
      expect(await least(maxMs, revoke, 3)).toBeLessThan(maxMs);
    }
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
      expect(node.round_trip_ms).toBeGreaterThanOrEqual(300);
    }
    const far = nodes.map((node) => ({ ...node, round_trip_ms: 301 }));
    const [found] = problemsOf({ nodes: far, has_majority: true, spread_keys: [], may_replace_leader: true });
    expect(found?.what).toMatch(/takes 301 ms, but at most 300 ms are supported/);
    expectSuccess(await other.admin.run("lead", "export", account.id));
  });
});
