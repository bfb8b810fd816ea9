/** Three nodes of rqlite on this machine with a server of a build beside each, and what can be done to them. */
import { join } from "node:path";
import {
  type LocalNode,
  placeNodes,
  type RunningNode,
  startCluster,
  startNode,
} from "../../../../extensions/cluster/local-cluster.ts";
import { untilReady } from "../../../../extensions/cluster/members.ts";
import { aHost, leaderOf, rqlited } from "../../../../test/extensions/cluster/nodes.ts";
import type { AdminStore } from "../../../../test/support/admin-store.ts";
import { mountAt } from "../../../../test/support/small-disk.ts";
import { prepare } from "../../product/contents.ts";
import { type Ended, type Server, startServer } from "../../product/program.ts";
import { layNetwork, missingNamespaces, type Network, type Site } from "./network.ts";

export interface Place {
  readonly node: LocalNode;
  engine: RunningNode;
  server: Server;
  /** The machine of its own that it stands on; null where all share this one. */
  readonly site: Site | null;
}

export interface Places {
  readonly all: readonly [Place, Place, Place];
  /** Runs one admin command beside a node. */
  admin(place: Place, args: readonly string[], input?: string): Promise<Ended>;
  leader(): Promise<Place>;
  followers(): Promise<[Place, Place]>;
  /** Starts a node again that was killed. */
  restart(place: Place): Promise<void>;
  /** Starts its server again, where it was. */
  restartServer(place: Place): Promise<void>;
  /** Waits until a key is answered everywhere. */
  untilServing(secret: string): Promise<void>;
  end(): Promise<void>;
}

/**
 * Starts a cluster of a build, with what is made in its first file: on machines of their own if the system allows it, or on
 * small disks that are mounted with these options.
 */
export async function startPlaces<Made>(
  build: string,
  folder: string,
  make: (store: AdminStore) => Made,
  on: "one machine" | "three machines" | `size=${string}` = "one machine",
): Promise<{ places: Places; made: Made }> {
  const file = join(folder, "first.db");
  const made = prepare(file, make);
  const network = on === "three machines" && missingNamespaces() === null ? layNetwork(3) : null;
  const nodes = placeNodes(folder, ["n1", "n2", "n3"], aHost()).map((node, place) =>
    placeAt(node, network?.sites[place]),
  );
  const disks = on.startsWith("size=") ? nodes.map((node) => mountAt(node.folder, on)) : [];
  const siteOf = ({ name }: LocalNode) => network?.sites[nodes.findIndex((node) => node.name === name)] ?? null;
  const engines = await startCluster(nodes, file, (node, others) => startAt(node, siteOf(node), others));
  const [one, two, three] = await Promise.all(
    engines.map(async (engine): Promise<Place> => {
      const site = siteOf(engine);
      return { node: engine, engine, site, server: await serverOf(build, engine, site, 0) };
    }),
  );
  if (one === undefined || two === undefined || three === undefined) throw new Error("there are three nodes");
  return { places: control(build, folder, [one, two, three], network, disks), made };
}

/** A node at the addresses of its machine. */
function placeAt(node: LocalNode, site: Site | undefined): LocalNode {
  if (site === undefined) return node;
  return { ...node, url: `http://${site.outside}:4001`, raftAddress: `${site.address}:4002` };
}

function startAt(node: LocalNode, site: Site | null, others: readonly LocalNode[] = []): RunningNode {
  if (site === null) return startNode(rqlited, node, { others });
  // Of a flag that is given twice the last one counts.
  const flags = ["-http-addr", "0.0.0.0:4001", "-http-adv-addr", `${site.address}:4001`];
  return startNode(rqlited, node, { others, flags, before: site.before });
}

function serverOf(build: string, node: LocalNode, site: Site | null, port: number): Promise<Server> {
  // Where its node is: on an address of many clients one of them may have got the port of a server that starts again.
  const settings = { ...settingsOf(node), PORT: String(port), HOST: site?.outside ?? new URL(node.url).hostname };
  return startServer(build, node.path, settings, ["src/main.ts"], site?.before);
}

function settingsOf({ url, name }: LocalNode): Record<string, string> {
  return { CLUSTER: url, NODE_NAME: name };
}

function control(
  build: string,
  folder: string,
  all: readonly [Place, Place, Place],
  network: Network | null,
  disks: readonly Disposable[],
): Places {
  return {
    all,
    leader: () => leaderOf(all),
    async followers() {
      const leads = await leaderOf(all);
      const [one, two] = all.filter((place) => place !== leads);
      if (one === undefined || two === undefined) throw new Error("there are two followers");
      return [one, two];
    },
    async admin({ node, site }, args, input = "") {
      const child = Bun.spawn([...(site?.before ?? []), process.execPath, join(build, "src/admin.ts"), ...args], {
        cwd: folder,
        env: { PATH: process.env["PATH"] ?? "", HOME: folder, DATABASE_PATH: node.path, ...settingsOf(node) },
        stdin: Buffer.from(input),
        stdout: "pipe",
        stderr: "pipe",
      });
      const [stdout, stderr, status] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited]);
      return { status, stdout, stderr };
    },
    async restart(place) {
      // It knows the others; one that is to join and finds no leader ends.
      place.engine = startAt(place.node, place.site);
      await untilReady(place.node);
    },
    async restartServer(place) {
      place.server = await serverOf(build, place.node, place.site, Number(new URL(place.server.url).port));
    },
    async untilServing(secret) {
      for (const endMs = performance.now() + 60_000; performance.now() < endMs; await Bun.sleep(50)) {
        const statuses = await Promise.all(all.map((place) => statusAt(place, secret)));
        if (statuses.every((status) => status === 200)) return;
      }
      throw new Error("not every node serves");
    },
    async end() {
      for (const { engine, server } of all) {
        engine.kill("SIGCONT");
        await server.end("SIGKILL");
        engine.kill("SIGKILL");
        await engine.exited;
      }
      network?.remove();
      for (const disk of disks) disk[Symbol.dispose]();
    },
  };
}

/** The status of a page of leads; 0 where nobody answered. */
export async function statusAt({ server }: Place, secret: string): Promise<number> {
  try {
    const headers = { Authorization: `Bearer ${secret}` };
    const answer = await fetch(`${server.url}/api/v1/leads?limit=1`, { headers, signal: AbortSignal.timeout(2_000) });
    await answer.arrayBuffer();
    return answer.status;
  } catch {
    return 0;
  }
}

/** How many leads a node has by now; none where it does not say. */
export async function leadsOf({ node }: Place): Promise<number> {
  const question = `${node.url}/db/query?level=none&q=SELECT%20count(*)%20FROM%20stored_leads`;
  try {
    const answer = await fetch(question, { signal: AbortSignal.timeout(2_000) });
    const { results }: { readonly results?: readonly { readonly values?: readonly number[][] }[] } = JSON.parse(
      await answer.text(),
    );
    return results?.[0]?.values?.[0]?.[0] ?? 0;
  } catch {
    return 0;
  }
}
