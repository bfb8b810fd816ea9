/** All three machines restart, one after the other, behind the load balancer of deploy/: clients notice nothing. */
import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { missingRqlited } from "../../../../test/extensions/cluster/nodes.ts";
import { until } from "../../../../test/support/eventually.ts";
import { aFreePort } from "../../../../test/support/free-port.ts";
import { missingHere } from "../../../../test/support/needing.ts";
import { launch } from "../../../../test/support/process.ts";
import { nginxWith, replaceAll } from "../../../../test/support/proxy.ts";
import { type Attack, broken, type Fault, type Figures } from "../../fault.ts";
import type { Key } from "../../product/contents.ts";
import { attackCluster, hammer, type Place, statusAt, untilTrue } from "./places.ts";

const clients = 12;

export const clusterRolling: Fault = {
  name: "cluster: rolling restart",
  attack: "each machine's node and server are stopped and started in turn, under load behind nginx; machines",
  promise: "no request fails that the load balancer can send to another node",
  small: 3,
  full: 60,
  waits: true,
  missing: () => missingRqlited() ?? missingHere("nginx"),
  breakages: [
    broken(
      "a balancer that asks no other node",
      "deploy/cluster/nginx.conf",
      "proxy_next_upstream error timeout http_500 http_502 http_503;",
      "proxy_next_upstream off;",
      { isSlow: true, times: 3 },
    ),
  ],
  run,
};

function run(attack: Attack): Promise<Figures> {
  return attackCluster(attack, { leads: 30, keys: clients }, async ({ places, keys, measure, defer }) => {
    const [watch] = keys;
    const server = await startBalancer(attack.build, attack.folder, places.all, watch);
    defer(server.end);
    // Clients with a key each, so that every node has some of them.
    const load = keys.map((key) => hammer([{ server }], key, 10));
    return {
      async take(turn) {
        const before = load.map(({ done }) => done.length);
        const beginMs = performance.now();
        await restartMachine(places.all[(turn - 1) % 3] ?? places.all[0], watch);
        measure("a machine was away", performance.now() - beginMs);
        // The load balancer tries a node again two seconds after a failure.
        await Bun.sleep(2_500);
        const statuses = load.flatMap(({ done }, client) => done.slice(before[client]).map(({ status }) => status));
        const failed = statuses.filter((status) => status !== 200);
        return failed.length === 0 ? [] : [`${failed.length} requests failed, with ${[...new Set(failed)]}`];
      },
      async end() {
        const asked = await Promise.all(load.map((client) => client.end()));
        return { requests: asked.flat().length };
      },
    };
  });
}

/** Stops the server and the node of a machine, and starts both. */
async function restartMachine(place: Place, watch: Key): Promise<void> {
  await place.server.end("SIGTERM");
  place.engine.kill("SIGTERM");
  await place.engine.exited;
  await place.restart();
  await place.restartServer();
  await until(async () => (await statusAt(place, watch)) === 200);
}

/** Starts nginx with the configuration of deploy/, at the addresses of this machine. */
async function startBalancer(build: string, folder: string, all: readonly Place[], watch: Key) {
  const [port, at] = [await aFreePort(), join(folder, "nginx")];
  mkdirSync(at);
  const servers = all.map(({ server }, place) => [
    `server 10.0.0.${place + 1}:3000`,
    `server ${new URL(server.url).host}`,
  ]);
  const site = replaceAll(readFileSync(join(build, "deploy/cluster/nginx.conf"), "utf8"), {
    "listen 80;": `listen 127.0.0.1:${port};`,
    ...Object.fromEntries(servers),
  });
  const { end } = launch(nginxWith(site, at), { cwd: at, env: { PATH: process.env["PATH"] ?? "" } });
  const server = { url: `http://127.0.0.1:${port}`, end: () => end() };
  await untilTrue("nginx answers", 10_000, async () => (await statusAt({ server }, watch)) !== 0);
  return server;
}
