/** Nodes of rqlite on this machine alone, for tests and attacks: their program, addresses, secrets, and leader. */
import { mkdirSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { stateOf, untilReady } from "../../../extensions/cluster/members.ts";
import { nodeAt, type RqliteNode } from "../../../extensions/cluster/node.ts";
import { initCluster } from "../../../extensions/cluster/nodes.ts";
import { answering } from "../../support/answering.ts";

/** The flags of every node. */
export const nodeFlags = [
  // Leads refer to accounts and pixels.
  "-fk",
  // Statistics would change the plans that Leadfile was measured with.
  "-auto-optimize-int=0h",
  // The checkpoint of a large WAL stops all writes.
  "-raft-snap-int=2s",
  // Another leader is there within a second: a revocation waits for it, and for a lease after that.
  "-raft-timeout=500ms",
  "-raft-election-timeout=500ms",
  "-raft-cluster-remove-shutdown=false",
];

export interface LocalNode extends RqliteNode {
  readonly folder: string;
  /** The SQLite file. */
  readonly path: string;
  readonly raftAddress: string;
}

export interface RunningNode extends LocalNode, Pick<Bun.Subprocess, "exited" | "kill"> {}

const folders = ["go/bin", ".cache/leadfile-tools/bin"].map((name) => join(homedir(), name));
const found = Bun.which("rqlited", { PATH: [process.env["PATH"], ...folders].join(":") });

/** The path of rqlited; empty if it is not installed. */
export const rqlited = found ?? "";

/** The reason why clusters cannot run on this machine; null if they can. */
export function missingRqlited(): string | null {
  return found === null ? "rqlited is not installed" : null;
}

/** The ports of the first node; the next one follows. They are below those that the system gives to clients. */
const firstPort = 14_001;

/** Creates the folders of nodes that are not started yet, each at two ports of a loopback address. */
export function placeNodes(parent: string, names: readonly string[], host = "127.0.0.1"): LocalNode[] {
  return names.map((name, place) => {
    const folder = join(parent, name);
    mkdirSync(folder, { recursive: true, mode: 0o750 });
    const port = firstPort + 2 * place;
    const [url, raftAddress] = [`http://${host}:${port}`, `${host}:${port + 1}`];
    return { ...nodeAt({ name, url, credentials: null }), folder, path: join(folder, "db.sqlite"), raftAddress };
  });
}

interface NodeStart {
  /** The nodes to join at the first start. */
  readonly others?: readonly LocalNode[];
  readonly flags?: readonly string[];
  /** The command that runs rqlited, such as `ip netns exec`. */
  readonly before?: readonly string[];
}

/** Starts a node: alone, with others to join, or again with its folder. */
export function startNode(node: LocalNode, { others = [], flags = [], before = [] }: NodeStart = {}): RunningNode {
  const join = others.length === 0 ? [] : ["-join", others.map(({ raftAddress }) => raftAddress).join(",")];
  const addresses = ["-node-id", node.name, "-http-addr", new URL(node.url).host, "-raft-addr", node.raftAddress];
  const child = Bun.spawn([...before, rqlited, ...addresses, ...nodeFlags, ...join, ...flags, node.folder], {
    stdin: "ignore",
    stdout: "ignore",
    stderr: Bun.file(`${node.folder}.log`),
  });
  return { ...node, exited: child.exited, kill: (signal) => child.kill(signal) };
}

/** Starts a cluster: the first node gets a copy of a file, the others join it. `start` starts one node. */
export async function startCluster(
  [first, ...more]: readonly LocalNode[],
  file: string,
  start: (node: LocalNode, others: readonly LocalNode[]) => RunningNode,
): Promise<RunningNode[]> {
  if (first === undefined) return [];
  const one = start(first, []);
  await initCluster(one, file);
  const joined = more.map((node) => start(node, [first]));
  await Promise.all(joined.map((node) => untilReady(node)));
  return [one, ...joined];
}

/**
 * A loopback address for one cluster, so that no other program gets a port of a node while the node is stopped. Other systems
 * than Linux have only one address, so clusters cannot run in parallel there.
 */
export function aHost(): string {
  if (process.platform !== "linux") return "127.0.0.1";
  const [one = 0, two = 0, three = 0] = crypto.getRandomValues(new Uint8Array(3));
  return `127.${one}.${two}.${1 + (three % 254)}`;
}

/** The place whose node is the leader. Throws if there is none within a minute. */
export async function leaderOf<Place extends { readonly node: RqliteNode }>(all: readonly Place[]): Promise<Place> {
  for (const endMs = performance.now() + 60_000; performance.now() < endMs; await Bun.sleep(50)) {
    for (const place of all) if ((await stateOf(place.node))?.store?.raft?.state === "Leader") return place;
  }
  throw new Error("there is no leader");
}

/**
 * The JSON value that a command prints. A command that only reads is refused as long as there is no leader, and is run again.
 */
export async function printedBy<Value>(
  run: () => Promise<{ readonly status: number | null; readonly stdout: string; readonly stderr: string }>,
): Promise<Value> {
  for (const endMs = performance.now() + 60_000; ; await Bun.sleep(200)) {
    const { status, stdout, stderr } = await run();
    if (status === 0) return JSON.parse(stdout) as Value; // The caller says what the command promises.
    if (performance.now() > endMs) throw new Error(`the command ended with ${status}: ${stderr}`);
  }
}

/** A server that answers in the place of a node, until the test ends. */
export function standIn(fetch: (request: Request) => Response | Promise<Response>): RqliteNode {
  return nodeAt({ name: "n1", url: answering(fetch), credentials: null });
}
