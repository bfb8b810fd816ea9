/** A server whose machine has the wrong time. */
import { describe, expect, test } from "bun:test";
import { chmodSync } from "node:fs";
import { join } from "node:path";
import { createMajorityClock, disagreementOf } from "../../../extensions/cluster/clock.ts";
import { dayMs } from "../../../src/contract/calendar.ts";
import { anAdmin } from "../../support/admin.ts";
import { answering } from "../../support/answering.ts";
import { aLead } from "../../support/builders.ts";
import { until } from "../../support/eventually.ts";
import { unless } from "../../support/needing.ts";
import { start } from "../../support/process.ts";
import { aCluster, type Cluster, expectSuccess, missing, settingsOf, storedBy } from "./cluster.ts";

/** The settings of a program whose clock is ahead. */
const ahead = (ms: number) => ({
  BUN_OPTIONS: `--preload=${join(import.meta.dir, "../../support/clock-ahead.ts")}`,
  CLOCK_AHEAD_MS: String(ms),
});

describe("the clock of a server", () => {
  test.each<[others: number[], offMs: number]>([
    [[], 0],
    [[5_000], 5_000],
    [[-60_000], -60_000],
    [[0, 60_000], 0],
    [[60_000, 60_000], 60_000],
    [[0, 60_000, 60_000], 60_000],
    [[0, 0, 60_000, 60_000], 0],
    [[-60_000, 60_000], 0],
  ])("is compared with the majority of %p, or with the only other one", (others, offMs) => {
    expect(disagreementOf(others)).toBe(offMs);
  });

  test("shows the time of the majority, and ignores measurement noise and changes of the machine's clock", () => {
    const clocks = { monotonicMs: 5, wallMs: 1_000_000 };
    const { now, correct } = createMajorityClock(() => ({ ...clocks }));
    const shownAfter = (clockOffMs: number, others = 2) => {
      correct({ clockOffMs, others: Array.from({ length: others }) });
      return now() - 1_000_000;
    };
    const times = [400, -400, 20_000, 20_500, 19_500, 300].map((offMs) => shownAfter(offMs));
    expect(times).toEqual([0, 0, 20_000, 20_000, 20_000, 0]);
    // Of two clocks, it is unknown which one is right.
    expect(shownAfter(5 * dayMs, 1)).toBe(0);
    clocks.monotonicMs += 60_000;
    clocks.wallMs -= 5 * dayMs;
    expect(now()).toBe(1_060_000);
  });
});

/** Starts another server next to the first node, whose clock is ahead. */
async function startAhead({ places: [{ node, server }] }: Cluster, ms: number) {
  await server.end();
  const other = start({ ...settingsOf(node), ...ahead(ms), LOG_LEVEL: "warn" });
  return { ...other, url: await other.listening() };
}

unless(missing).describe("next to a node of a cluster", () => {
  test("a server that is five days ahead erases and serves nothing, even while another node is stopped", async () => {
    const old = Array.from({ length: 5 }, (_, place) =>
      aLead({ identified_at: new Date(Date.now() - 28 * dayMs + place).toISOString() }),
    );
    const cluster = await aCluster(old);
    const { account, places } = cluster;
    const [first, second, third] = places;
    expectSuccess(await second.admin.run("retain", account.id, "--days", "30"));
    await third.kill();
    const server = await startAhead(cluster, 5 * dayMs);
    const health = async () => (await fetch(`${server.url}/healthz`)).status;
    // The log says why it does not serve.
    await until(async () => {
      expect(await health()).toBe(503);
      return /the clock of this machine is 43[12]\d{3} s off/.test(server.output() + server.errors());
    });
    const command = anAdmin([], { ...settingsOf(first.node), ...ahead(5 * dayMs) }).start(
      "retain",
      account.id,
      "--days",
      "29",
    );
    expect((await command.finished()).stderr).toMatch(
      /^The clock of this machine differs from that of the other nodes by 43[12]\d{3} s\./,
    );
    await third.restart();
    await Bun.sleep(1_500);
    expect(await health()).toBe(503);
    // Alerts use the time of the majority. This one is about the machine itself.
    chmodSync(first.node.folder, 0o755);
    const alerts: string[] = [];
    const receiver = answering(async (request) => {
      alerts.push(await request.text());
      return new Response();
    });
    const watched = { ...settingsOf(first.node), ...ahead(5 * dayMs), ALERT_URL: receiver };
    const isTimeOf = (alert: string) => {
      const [, since = ""] = /"since": ?"([^"]+)"/.exec(alert) ?? [];
      return Math.abs(Date.parse(since) - Date.now()) < 60_000;
    };
    // On a slow machine, the third node may answer late, and two clocks are no majority.
    await until(async () => {
      const watch = anAdmin([], watched).start("watch");
      await until(() => alerts.length > 0);
      await watch.end();
      return alerts.splice(0).every(isTimeOf);
    });
    await server.end();
    expect(await storedBy(second)).toBe(5);
  });
});
