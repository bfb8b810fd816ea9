/** Three nodes of rqlite on this machine with a server of a build beside each, and what can be done to them. */
import { join } from "node:path";
import {
  findRqlited,
  type LocalNode,
  placeNode,
  type RunningNode,
  startCluster,
  startNode,
  untilReady,
} from "../../src/rqlite/keeping/local-cluster.ts";
import type { AdminStore } from "../../src/store/admin.ts";
import { prepare } from "./contents.ts";
import { type Ended, type Server, startServer } from "./program.ts";

const rqlited = findRqlited(process.env["HOME"]);

export function missingRqlited(): string | null {
  return rqlited === null ? "rqlited is not installed" : null;
}

export interface Place {
  readonly node: LocalNode;
  engine: RunningNode;
  readonly server: Server;
}

export interface Places {
  readonly all: readonly [Place, Place, Place];
  /** Runs one admin command beside a node. */
  admin(place: Place, args: readonly string[], input?: string): Promise<Ended>;
  leader(): Promise<Place>;
  followers(): Promise<[Place, Place]>;
  /** Starts a node again that was killed. */
  restart(place: Place): Promise<void>;
  /** Waits until a key is answered everywhere. */
  untilServing(secret: string): Promise<void>;
  end(): Promise<void>;
}

/** Starts a cluster of a build, with what is made in its first file. */
export async function startPlaces<Made>(
  build: string,
  folder: string,
  make: (store: AdminStore) => Made,
): Promise<{ places: Places; made: Made }> {
  const file = join(folder, "first.db");
  const made = prepare(file, make);
  const engines = await startCluster(
    ["n1", "n2", "n3"].map((name) => placeNode(folder, name)),
    file,
    (node, others) => startNode(rqlited ?? "", node, others),
  );
  const started = await Promise.all(
    engines.map(async (engine): Promise<Place> => {
      return { node: engine, engine, server: await startServer(build, engine.path, settingsOf(engine)) };
    }),
  );
  const [one, two, three] = started;
  if (one === undefined || two === undefined || three === undefined) throw new Error("there are three nodes");
  return { places: control(build, folder, [one, two, three]), made };
}

function settingsOf({ url, name }: LocalNode): Record<string, string> {
  return { CLUSTER: url, NODE: name };
}

function control(build: string, folder: string, all: readonly [Place, Place, Place]): Places {
  async function leader(): Promise<Place> {
    for (const endMs = performance.now() + 20_000; performance.now() < endMs; await Bun.sleep(50)) {
      for (const place of all) if ((await stateOf(place)) === "Leader") return place;
    }
    throw new Error("no node leads");
  }

  return {
    all,
    leader,
    async followers() {
      const leads = await leader();
      const [one, two] = all.filter((place) => place !== leads);
      if (one === undefined || two === undefined) throw new Error("there are two followers");
      return [one, two];
    },
    async admin({ node }, args, input = "") {
      const child = Bun.spawn([process.execPath, join(build, "src/admin.ts"), ...args], {
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
      place.engine = startNode(rqlited ?? "", place.node);
      await untilReady(place.node);
    },
    async untilServing(secret) {
      for (const endMs = performance.now() + 30_000; performance.now() < endMs; await Bun.sleep(50)) {
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
    },
  };
}

async function stateOf({ node }: Place): Promise<string | undefined> {
  try {
    const answer = await fetch(`${node.url}/status`, { signal: AbortSignal.timeout(500) });
    const { store }: { readonly store?: { readonly raft?: { readonly state?: string } } } = JSON.parse(
      await answer.text(),
    );
    return store?.raft?.state;
  } catch {
    return undefined;
  }
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
