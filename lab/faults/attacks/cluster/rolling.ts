/** All three machines restart, one after the other, behind the load balancer of deploy/: clients notice nothing. */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { missingRqlited } from "../../../../test/extensions/cluster/nodes.ts";
import { someLeads } from "../../../../test/support/builders.ts";
import { aFreePort } from "../../../../test/support/proxy.ts";
import type { Attack, Fault, Figures } from "../../fault.ts";
import { makeAccount, makeKey } from "../../product/contents.ts";
import { needs } from "../../product/program.ts";
import { lateInEach } from "./hammer.ts";
import { attackCluster, type Place, statusAt } from "./places.ts";

const clients = 12;

export const clusterRolling: Fault = {
  name: "cluster: rolling restart",
  attack: "each machine's node and server are stopped and started in turn, under load behind nginx; machines",
  promise: "no request fails that the load balancer can send to another node",
  small: 3,
  full: 60,
  waits: true,
  missing: () => missingRqlited() ?? needs("nginx"),
  breakages: [
    {
      name: "a balancer that asks no other node",
      isSlow: true,
      times: 3,
      patches: [
        {
          file: "deploy/cluster/nginx.conf",
          from: "proxy_next_upstream error timeout http_500 http_502 http_503;",
          to: "proxy_next_upstream off;",
        },
      ],
    },
  ],
  run,
};

function run(attack: Attack): Promise<Figures> {
  return attackCluster(
    attack,
    (store) => {
      const account = makeAccount(store, "acme", someLeads(30));
      return Array.from({ length: clients }, () => makeKey(store, account).secret);
    },
    async ({ places, made: keys, expect, measure, defer }) => {
      const [watch = ""] = keys;
      await places.untilServing(watch);
      const balancer = await startBalancer(attack.build, attack.folder, places.all);
      defer(balancer.end);
      const load = loadOf(balancer.url, keys);
      return {
        async take(turn) {
          const place = places.all[(turn - 1) % 3] ?? places.all[0];
          const failed = await lateInEach(async () => {
            await places.untilServing(watch);
            const before = load.failed.length;
            const beginMs = performance.now();
            await restartMachine(place, watch);
            measure("a machine was away", performance.now() - beginMs);
            // The load balancer tries a node again two seconds after a failure.
            await Bun.sleep(2_500);
            return load.failed.slice(before).map(String);
          });
          expect(failed.length === 0, () => `${failed.length} requests failed, with ${[...new Set(failed)]}`);
        },
        end: async () => ({ requests: await load.end() }),
      };
    },
  );
}

/** Stops the server and the node of a machine, and starts both. */
async function restartMachine(place: Place, watch: string): Promise<void> {
  await place.server.end("SIGTERM");
  place.engine.kill("SIGTERM");
  await place.engine.exited;
  await place.restart();
  await place.restartServer();
  while ((await statusAt(place, watch)) !== 200) await Bun.sleep(20);
}

interface Balancer {
  readonly url: string;
  end(): Promise<void>;
}

/** Starts nginx with the configuration of deploy/, at the addresses of this machine. */
async function startBalancer(build: string, folder: string, all: readonly Place[]): Promise<Balancer> {
  const port = await aFreePort();
  let site = readFileSync(join(build, "deploy/cluster/nginx.conf"), "utf8").replace(
    "listen 80;",
    `listen 127.0.0.1:${port};`,
  );
  for (const [place, { server }] of all.entries()) {
    site = site.replace(`server 10.0.0.${place + 1}:3000`, `server ${new URL(server.url).host}`);
  }
  const at = join(folder, "nginx");
  mkdirSync(at);
  const parts = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map((kind) => `${kind}_temp_path ${at}/${kind};`);
  const user = process.getuid?.() === 0 ? "user root;" : "";
  const frame = `daemon off; worker_processes 1; pid ${at}/pid; error_log ${at}/errors; ${user}`;
  writeFileSync(join(at, "nginx.conf"), `${frame}\nevents {}\nhttp { access_log off; ${parts.join(" ")}\n${site} }\n`);
  const child = Bun.spawn(["nginx", "-e", join(at, "errors"), "-p", at, "-c", join(at, "nginx.conf")], {
    stdin: "ignore",
    stdout: "ignore",
    stderr: "ignore",
  });
  const url = `http://127.0.0.1:${port}`;
  for (const endMs = performance.now() + 10_000; performance.now() < endMs; await Bun.sleep(20)) {
    if ((await statusOf(url, "")) !== 0) break;
  }
  return {
    url,
    async end() {
      child.kill("SIGTERM");
      await child.exited;
    },
  };
}

async function statusOf(url: string, secret: string): Promise<number> {
  try {
    const answer = await fetch(`${url}/api/v1/leads?limit=5`, { headers: { Authorization: `Bearer ${secret}` } });
    await answer.arrayBuffer();
    return answer.status;
  } catch {
    return 0;
  }
}

/** Clients with a key each, so that every node has some of them. */
function loadOf(url: string, keys: readonly string[]) {
  let isOver = false;
  let asked = 0;
  const failed: number[] = [];
  const asking = keys.map(async (secret) => {
    while (!isOver) {
      const status = await statusOf(url, secret);
      asked++;
      if (status !== 200) failed.push(status);
      await Bun.sleep(10);
    }
  });
  return {
    failed,
    /** Stops, and returns the number of requests. */
    async end(): Promise<number> {
      isOver = true;
      await Promise.all(asking);
      return asked;
    },
  };
}
