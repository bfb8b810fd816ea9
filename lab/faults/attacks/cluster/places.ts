/** Three nodes of rqlite on this machine, with a server of a build next to each, and the frame of every attack on them. */
import type { Database } from "bun:sqlite";
import { join } from "node:path";
import { untilReady } from "../../../../extensions/cluster/members.ts";
import { linesOf, numberFrom } from "../../../../test/extensions/cluster/cluster.ts";
import {
  aHost,
  type LocalNode,
  leaderOf,
  placeNodes,
  type RunningNode,
  startCluster,
  startNode,
} from "../../../../test/extensions/cluster/nodes.ts";
import type { AdminStore } from "../../../../test/support/admin-store.ts";
import { mountAt } from "../../../../test/support/small-disk.ts";
import type { Attack, Figures, Findings } from "../../fault.ts";
import { documentsOf, type Key, look, prepare } from "../../product/contents.ts";
import { admin, type Ended, type Server, startServer } from "../../product/program.ts";
import { type Asked, statusAt, untilTrue } from "./hammer.ts";
import { layNetwork, missingNamespaces, type Site } from "./network.ts";

/** A node with its server. */
export interface Place {
  readonly node: LocalNode;
  engine: RunningNode;
  server: Server;
  /** Its simulated machine; null if all nodes share this one. */
  readonly site: Site | null;
  /** Runs an admin command next to the node. */
  admin(args: readonly string[], input?: string): Promise<Ended>;
  /** Kills the node, and waits for its end. */
  kill(): Promise<void>;
  /** Starts the node again after its end. */
  restart(): Promise<void>;
  /** Starts its server again, at the same address. */
  restartServer(): Promise<void>;
}

export interface Places {
  readonly all: readonly [Place, Place, Place];
  leader(): Promise<Place>;
  followers(): Promise<[Place, Place]>;
  /** Waits until every server accepts a key. */
  untilServing(secret: string): Promise<void>;
}

/** The cluster of an attack. */
interface Attacked<Made> extends Findings {
  readonly places: Places;
  /** The result of preparing the first file. */
  readonly made: Made;
  /** Adds a time to the figures. */
  measure(what: string, ms: number): void;
  /** Adds work that is done in any case before the nodes end. */
  defer(work: () => Promise<void>): void;
}

interface Turns {
  /**
   * Runs a turn, counted from 1. Returns the time limits that it missed. A late turn is repeated, up to three times:
   * other work on the machine can delay one run, but a defect delays each.
   */
  take(turn: number): Promise<readonly string[]>;
  /** Runs after the last turn. Returns further figures. */
  end?(): Promise<Figures>;
}

const maxTries = 3;

export type Where = "one machine" | "three machines" | `size=${string}`;

/**
 * Runs an attack on a cluster of a build, whose first file `make` prepares: on simulated machines if the system allows it, or
 * on small disks that are mounted with these options.
 */
export async function attackCluster<Made>(
  { build, folder, turns, broken, expect }: Attack,
  make: (store: AdminStore) => Made,
  begin: (attacked: Attacked<Made>) => Turns | Promise<Turns>,
  on: Where = "one machine",
): Promise<Figures> {
  await using ends = new AsyncDisposableStack();
  const file = join(folder, "first.db");
  const made = prepare(file, make);
  const tookMs = new Map<string, number[]>();
  const { take, end } = await begin({
    places: await startPlaces(build, folder, file, on, ends),
    made,
    broken,
    expect,
    measure: (what, ms) => void tookMs.getOrInsert(what, []).push(ms),
    defer: (work) => ends.defer(work),
  });
  for (const { number } of turns()) {
    let late = await take(number + 1);
    for (let again = 1; late.length > 0 && again < maxTries; again++) late = await take(number + 1);
    for (const what of late) expect(false, () => what);
  }
  const further = await end?.();
  const measured = Object.fromEntries([...tookMs].map(([what, ms]) => [what, spread(ms)]));
  return { ...measured, ...further };
}

/** The median and the maximum of some times, for a report. */
function spread(timesMs: readonly number[]): string {
  const sorted = timesMs.toSorted((one, other) => one - other);
  const median = sorted[Math.floor(sorted.length / 2)] ?? 0;
  return `${sorted.length}: median ${Math.round(median)} ms, worst ${Math.round(sorted.at(-1) ?? 0)} ms`;
}

async function startPlaces(
  build: string,
  folder: string,
  file: string,
  on: Where,
  ends: AsyncDisposableStack,
): Promise<Places> {
  const network = on === "three machines" && missingNamespaces() === null ? layNetwork(3) : null;
  if (network !== null) ends.defer(network.remove);
  const nodes = placeNodes(folder, ["n1", "n2", "n3"], aHost()).map((node, place) =>
    placeAt(node, network?.sites[place]),
  );
  if (on.startsWith("size=")) for (const { folder: path } of nodes) ends.use(mountAt(path, on));
  const siteOf = ({ name }: LocalNode) => network?.sites[nodes.findIndex((node) => node.name === name)] ?? null;
  const engines = await startCluster(nodes, file, (node, others) => startAt(node, siteOf(node), others));
  const places = await Promise.all(engines.map((engine) => placeOf(build, engine, siteOf(engine))));
  ends.defer(async () => {
    for (const { engine, server, kill } of places) {
      engine.kill("SIGCONT");
      await server.end("SIGKILL");
      await kill();
    }
  });
  const [one, two, three] = places;
  if (one === undefined || two === undefined || three === undefined) throw new Error("there are three nodes");
  return {
    all: [one, two, three],
    leader: () => leaderOf(places),
    async followers() {
      const leader = await leaderOf(places);
      return leader === one ? [two, three] : [one, leader === two ? three : two];
    },
    untilServing: (secret) =>
      untilTrue("every node serves", 60_000, async () => {
        const statuses = await Promise.all(places.map((place) => statusAt(place, secret)));
        return statuses.every((status) => status === 200);
      }),
  };
}

async function placeOf(build: string, node: RunningNode, site: Site | null): Promise<Place> {
  const settings = { CLUSTER: node.url, NODE_NAME: node.name };
  // At the address of its node: at an address that clients share, one of them may have the port when a server starts again.
  const host = site?.outside ?? new URL(node.url).hostname;
  const serve = (port: string) =>
    startServer(build, node.path, { ...settings, PORT: port, HOST: host }, ["src/main.ts"], site?.before);
  const place: Place = {
    node,
    engine: node,
    site,
    server: await serve("0"),
    admin: (args, input = "") =>
      admin(build, node.path, args, {
        before: site?.before ?? [],
        settings: { ...settings, HOME: node.folder },
        input,
      }),
    async kill() {
      place.engine.kill("SIGKILL");
      await place.engine.exited;
    },
    async restart() {
      // It knows the others. A node that is to join ends if it finds no leader.
      place.engine = startAt(node, site);
      await untilReady(node);
    },
    async restartServer() {
      place.server = await serve(new URL(place.server.url).port);
    },
  };
  return place;
}

/** A node at the addresses of its machine. */
function placeAt(node: LocalNode, site: Site | undefined): LocalNode {
  if (site === undefined) return node;
  return { ...node, url: `http://${site.outside}:4001`, raftAddress: `${site.address}:4002` };
}

function startAt(node: LocalNode, site: Site | null, others: readonly LocalNode[] = []): RunningNode {
  if (site === null) return startNode(node, { others });
  // The last one of two equal flags is effective.
  const flags = ["-http-addr", "0.0.0.0:4001", "-http-adv-addr", `${site.address}:4001`];
  return startNode(node, { others, flags, before: site.before });
}

/** The number of leads that a node has; 0 if it does not answer. */
export async function leadsOf({ node }: Place): Promise<number> {
  return await numberFrom(node, "SELECT count(*) FROM stored_leads").catch(() => 0);
}

/** Starts an import next to a node, and waits until another node has its first leads, or for 10 s. */
export async function beginImport({ admin }: Place, other: Place, leads: readonly object[]) {
  const before = await leadsOf(other);
  const beginMs = performance.now();
  const importing = admin(["lead", "import", "acme", "-", "--json"], linesOf(leads));
  while ((await leadsOf(other)) === before && performance.now() - beginMs < 10_000) await Bun.sleep(2);
  return { importing, beginMs };
}

/** The counts that an import printed; none if it failed. */
export function countsOf({ stdout }: Ended): { readonly imported?: number; readonly suppressed?: number } {
  return JSON.parse(stdout === "" ? "{}" : stdout);
}

/** The last line that a failed command printed. */
export function errorOf({ status, stderr }: Ended): string {
  return `ended with ${status}: ${stderr.trim().split("\n").at(-1)}`;
}

/** Compares the files of all nodes, once they have caught up: the same leads, each once. */
export async function compareNodes({ all }: Places, wanted: number, when: string, expect: Findings["expect"]) {
  for (const endMs = performance.now() + 60_000; performance.now() < endMs; await Bun.sleep(50)) {
    if ((await Promise.all(all.map(leadsOf))).every((leads) => leads === wanted)) break;
  }
  const found = all.map(({ node }) => look(node.path, contentsOf, "read-only"));
  expect(new Set(found.map(({ hash }) => hash)).size === 1, () => `${when} the nodes differ`);
  for (const { leads, ids } of found) {
    expect(leads === wanted && ids === wanted, () => `${when}: ${leads} leads, ${ids} ids, not ${wanted}`);
  }
}

function contentsOf(database: Database): { leads: number; ids: number; hash: string } {
  const documents = documentsOf(database);
  const ids = database.query<{ ids: number }, []>("SELECT count(DISTINCT uuid) AS ids FROM stored_leads").get();
  const hash = new Bun.CryptoHasher("sha256").update(documents.join("\n")).digest("hex");
  return { leads: documents.length, ids: ids?.ids ?? 0, hash };
}

/** Compares the usage of a key with the requests that were answered, and those that may have been. Returns their number. */
export async function compareUsage(
  place: Place,
  key: Key,
  asked: readonly Asked[],
  mayCount: (status: number) => boolean,
  expect: Findings["expect"],
): Promise<number> {
  const answered = asked.filter(({ status }) => status === 200).length;
  const unknown = asked.filter(({ status }) => status !== 200 && mayCount(status)).length;
  const found = await usageOf(place, key, answered);
  expect(
    found >= answered && found <= answered + unknown,
    () => `usage is ${found}; ${answered} requests were answered, and ${unknown} may have been counted`,
  );
  return answered;
}

/** The count of a key on all days, once it does not change any more: a server sends its counts each second. */
async function usageOf({ node }: Place, { id }: Key, answered: number): Promise<number> {
  const sum =
    "SELECT coalesce(sum(requests), 0) AS sum FROM usage JOIN keys ON keys.number = usage.key WHERE keys.id = ?";
  let last = -1;
  for (const endMs = performance.now() + 30_000; performance.now() < endMs; await Bun.sleep(2_000)) {
    const read = () => look(node.path, (file) => file.query<{ sum: number }, [string]>(sum).get(id)?.sum, "read-only");
    const counted = read() ?? 0;
    if (counted >= answered && counted === last) return counted;
    last = counted;
  }
  return last;
}
