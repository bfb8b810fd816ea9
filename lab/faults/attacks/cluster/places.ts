/** Three nodes of rqlite on this machine, with a server of a build next to each, and the frame of every attack on them. */
import type { Database } from "bun:sqlite";
import { untilReady } from "../../../../extensions/cluster/members.ts";
import { numberFrom } from "../../../../test/extensions/cluster/cluster.ts";
import {
  aHost,
  type LocalNode,
  leaderOf,
  placeNodes,
  type RunningNode,
  startCluster,
  startNode,
} from "../../../../test/extensions/cluster/nodes.ts";
import { linesOf } from "../../../../test/support/builders.ts";
import { holdsWithin } from "../../../../test/support/eventually.ts";
import type { Finished } from "../../../../test/support/process.ts";
import { mountAt } from "../../../../test/support/small-disk.ts";
import { median } from "../../../quantile.ts";
import type { Attack, Figures } from "../../fault.ts";
import { ask, startClients } from "../../product/client.ts";
import { documentsOf, type Key, type Keys, look, prepareKeys } from "../../product/contents.ts";
import { admin, startServer } from "../../product/program.ts";
import { layNetwork, missingNamespaces, type Site } from "./network.ts";

type Expect = Attack["expect"];
export type Place = Awaited<ReturnType<typeof placeOf>>;
export type Places = Awaited<ReturnType<typeof startPlaces>>;

export interface Setup {
  /** The number of leads of the account acme. */
  readonly leads: number;
  readonly keys: number;
  /** On simulated machines if the system allows it, or on small disks that are mounted with these options. */
  readonly on?: "three machines" | `size=${string}`;
}

/** An attack with its cluster. */
interface Attacked extends Attack {
  readonly places: Places;
  /** The first one is never revoked. */
  readonly keys: Keys;
  /** Adds a time to the figures. */
  measure(what: string, ms: number): void;
  /** Adds work that is done in any case before the nodes end. */
  defer(work: () => Promise<unknown>): void;
}

interface Turns {
  /**
   * Runs a turn, counted from 1, when all servers serve. Returns the time limits that it missed. A late turn is repeated,
   * up to three times: other work on the machine can delay one run, but a defect delays each.
   */
  take(turn: number): Promise<readonly string[]>;
  /** Runs after the last turn. Returns further figures. */
  end?(): Promise<Figures>;
}

const maxTries = 3;

/** Runs an attack on a cluster of a build. */
export async function attackCluster(
  attack: Attack,
  setup: Setup,
  begin: (attacked: Attacked) => Turns | Promise<Turns>,
): Promise<Figures> {
  await using ends = new AsyncDisposableStack();
  const keys = prepareKeys(attack.file, setup.leads, setup.keys);
  const [watch] = keys;
  const places = await startPlaces(attack, setup, ends);
  const tookMs = new Map<string, number[]>();
  const measure = (what: string, ms: number) => void tookMs.getOrInsert(what, []).push(ms);
  const defer = (work: () => Promise<unknown>) => ends.defer(async () => void (await work()));
  await places.untilServing(watch);
  const { take, end } = await begin({ ...attack, places, keys, measure, defer });
  for (const { number } of attack.turns()) {
    let late: readonly string[] = ["not run yet"];
    for (let tries = 0; late.length > 0 && tries < maxTries; tries++) {
      late = await take(number + 1);
      await places.untilServing(watch);
    }
    for (const what of late) attack.expect(false, () => what);
  }
  const further = await end?.();
  const measured = Object.fromEntries([...tookMs].map(([what, ms]) => [what, spread(ms)]));
  return { ...measured, ...further };
}

/** The median and the maximum of some times, for a report. */
function spread(timesMs: readonly number[]): string {
  const [median50, worst] = [median(timesMs), Math.max(...timesMs)].map(Math.round);
  return `${timesMs.length}: median ${median50} ms, worst ${worst} ms`;
}

async function startPlaces({ build, folder, file }: Attack, { on }: Setup, ends: AsyncDisposableStack) {
  const network = on === "three machines" && missingNamespaces() === null ? layNetwork(3) : null;
  if (network !== null) ends.defer(network.remove);
  const nodes = placeNodes(folder, ["n1", "n2", "n3"], aHost()).map((node, place) =>
    placeAt(node, network?.sites[place]),
  );
  if (on?.startsWith("size=")) for (const { folder: path } of nodes) ends.use(mountAt(path, on));
  const siteOf = ({ name }: LocalNode) => network?.sites[nodes.findIndex((node) => node.name === name)] ?? null;
  const engines = await startCluster(nodes, file, (node, others) => startAt(node, siteOf(node), others));
  const all = await Promise.all(engines.map((engine) => placeOf(build, engine, siteOf(engine))));
  ends.defer(async () => {
    for (const { engine, server, kill } of all) {
      engine.kill("SIGCONT");
      await server.end("SIGKILL");
      await kill();
    }
  });
  const [one, two, three] = all;
  if (one === undefined || two === undefined || three === undefined) throw new Error("there are three nodes");
  return {
    all: [one, two, three] as const,
    leader: () => leaderOf(all),
    async followers(): Promise<readonly [Place, Place]> {
      const leader = await leaderOf(all);
      return leader === one ? [two, three] : [one, leader === two ? three : two];
    },
    /** Waits until every server accepts a key. */
    untilServing: (key: Key) =>
      untilTrue("every node serves", 60_000, async () => {
        const statuses = await Promise.all(all.map((place) => statusAt(place, key)));
        return statuses.every((status) => status === 200);
      }),
  };
}

/** A node with its server. */
async function placeOf(build: string, node: RunningNode, site: Site | null) {
  const settings = { CLUSTER: node.url, NODE_NAME: node.name };
  const before = site?.before ?? [];
  // At the address of its node: at an address that clients share, one of them may have the port when a server starts again.
  const host = site?.outside ?? new URL(node.url).hostname;
  const serve = (port: string) =>
    startServer(build, node.path, { ...settings, PORT: port, HOST: host }, ["main"], before);
  const place = {
    node: node as LocalNode,
    /** Its rqlite that was started last. */
    engine: node,
    /** Its simulated machine; null if all nodes share this one. */
    site,
    server: await serve("0"),
    /** Runs an admin command next to the node. */
    admin: (args: readonly string[], input = "") =>
      admin(build, node.path, args, { before, settings: { ...settings, HOME: node.folder }, input }),
    /** Kills the node, and waits for its end. */
    async kill(): Promise<void> {
      place.engine.kill("SIGKILL");
      await place.engine.exited;
    },
    /** Starts the node again after its end. */
    async restart(): Promise<void> {
      // It knows the others. A node that is to join ends if it finds no leader.
      place.engine = startAt(node, site);
      await untilReady(node);
    },
    /** Starts its server again, at the same address. */
    async restartServer(): Promise<void> {
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

/** A server of a cluster, or a load balancer in front of them. */
interface Target {
  readonly server: { readonly url: string };
}

/** A request of a client that may stop waiting. */
const askAt = ({ server }: Target, { secret }: Key) => ask(server.url, secret, "leads?limit=1", 2_000);

/** The status of a page of leads; 0 if there is no answer. */
export const statusAt = async (target: Target, key: Key) => (await askAt(target, key)).status;

/** Starts clients that send requests with a key without a pause, one to each server. */
export function hammer<Server extends Target>(all: readonly Server[], key: Key, pauseMs = 2) {
  const clientOf = (of: Server) => async () => {
    const { atMs, status } = await askAt(of, key);
    return { of, atMs, status };
  };
  return startClients(all.map(clientOf), pauseMs);
}

/** Waits for a condition. Throws if it is not met in time. */
export async function untilTrue(what: string, maxMs: number, isSo: () => Promise<boolean>): Promise<void> {
  if (!(await holdsWithin(maxMs, isSo))) throw new Error(`not in time: ${what}`);
}

/** The number of leads that a node has; 0 if it does not answer. */
async function leadsOf({ node }: Place): Promise<number> {
  return await numberFrom(node, "SELECT count(*) FROM stored_leads").catch(() => 0);
}

/** Starts an import next to a node, and waits until another node has its first leads, or for 10 s. */
export async function beginImport({ admin }: Place, other: Place, leads: readonly object[]) {
  const before = await leadsOf(other);
  const beginMs = performance.now();
  const importing = admin(["lead", "import", "acme", "-", "--json"], linesOf(leads));
  await holdsWithin(10_000, async () => (await leadsOf(other)) > before, 2);
  return { importing, beginMs };
}

/** Expects that a command succeeded, such as an import, whose counts are returned. */
export function expectDone(what: string, { status, stdout, stderr }: Finished, expect: Expect) {
  expect(status === 0, () => `${what} ended with ${status}: ${stderr.trim().split("\n").at(-1)}`);
  const counts: { imported?: number; suppressed?: number } = stdout.startsWith("{") ? JSON.parse(stdout) : {};
  return { imported: 0, suppressed: 0, ...counts };
}

/** Compares the files of all nodes, once they have caught up: the same leads, each once. */
export async function compareNodes({ all }: Places, wanted: number, when: string, expect: Expect): Promise<void> {
  const haveAll = async () => (await Promise.all(all.map(leadsOf))).every((leads) => leads === wanted);
  await holdsWithin(60_000, haveAll, 50);
  const found = all.map(({ node }) => look(node.path, contentsOf, "read-only"));
  expect(new Set(found.map(({ hash }) => hash)).size === 1, () => `${when} the nodes differ`);
  for (const { leads, ids } of found) {
    expect(leads === wanted && ids === wanted, () => `${when}: ${leads} leads, ${ids} ids, not ${wanted}`);
  }
}

function contentsOf(database: Database): { leads: number; ids: number; hash: string } {
  const documents = documentsOf(database);
  const ids = new Set(documents.map((document): string => JSON.parse(document).id)).size;
  const hash = new Bun.CryptoHasher("sha256").update(documents.join("\n")).digest("hex");
  return { leads: documents.length, ids, hash };
}

/**
 * Compares the usage of a key with the requests that were answered, and those that may have been counted. Returns the number
 * of the answered ones.
 */
export async function compareUsage(
  { node }: Place,
  { id }: Key,
  asked: readonly { readonly status: number }[],
  mayCount: (status: number) => boolean,
  expect: Expect,
): Promise<number> {
  const answered = asked.filter(({ status }) => status === 200).length;
  const unknown = asked.filter(({ status }) => status !== 200 && mayCount(status)).length;
  const sum =
    "SELECT coalesce(sum(requests), 0) AS sum FROM usage JOIN keys ON keys.number = usage.key WHERE keys.id = ?";
  const read = () =>
    look(node.path, (file) => file.query<{ sum: number }, [string]>(sum).get(id)?.sum ?? 0, "read-only");
  let last = -1;
  // A server sends its counts each second.
  const isSettled = () => {
    const before = last;
    last = read();
    return last >= answered && last === before;
  };
  await holdsWithin(30_000, isSettled, 2_000);
  const isRight = last >= answered && last <= answered + unknown;
  expect(isRight, () => `usage is ${last}; ${answered} requests were answered, and ${unknown} may have been counted`);
  return answered;
}
