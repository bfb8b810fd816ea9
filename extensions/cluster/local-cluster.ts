/** Nodes of rqlite on this machine alone: for a demonstration, and for tests against the real thing. */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { untilReady } from "./members.ts";
import type { RqliteNode } from "./node.ts";
import { initCluster } from "./nodes.ts";

/** The flags of every node. */
export const nodeFlags = [
  // Leads refer to accounts and pixels.
  "-fk",
  // Statistics would change the plans that Leadfile was measured with.
  "-auto-optimize-int=0h",
  // A log that grows for long stops all writes while it is folded in.
  "-raft-snap-int=2s",
  // Another leader is there within a second: a revocation waits for it, and for a lease after that.
  "-raft-timeout=500ms",
  "-raft-election-timeout=500ms",
  "-raft-cluster-remove-shutdown=false",
];

export interface LocalNode extends RqliteNode {
  readonly name: string;
  readonly folder: string;
  /** The SQLite file. */
  readonly path: string;
  readonly raftAddress: string;
}

export interface RunningNode extends LocalNode {
  readonly pid: number;
  readonly exited: Promise<number>;
  kill(signal: "SIGTERM" | "SIGKILL" | "SIGSTOP" | "SIGCONT"): void;
}

/** Returns the path of rqlited; null if it is not installed. */
export function findRqlited(home: string | undefined): string | null {
  const inPath = Bun.which("rqlited");
  if (inPath !== null || home === undefined) return inPath;
  const folders = [join(home, "go/bin"), join(home, ".cache/leadfile-tools/bin")];
  return Bun.which("rqlited", { PATH: folders.join(":") });
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
    return { name, folder, path: join(folder, "db.sqlite"), url, raftAddress, authorization: null };
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
export function startNode(
  rqlited: string,
  node: LocalNode,
  { others = [], flags = [], before = [] }: NodeStart = {},
): RunningNode {
  const join = others.length === 0 ? [] : ["-join", others.map(({ raftAddress }) => raftAddress).join(",")];
  const addresses = ["-node-id", node.name, "-http-addr", new URL(node.url).host, "-raft-addr", node.raftAddress];
  const child = Bun.spawn([...before, rqlited, ...addresses, ...nodeFlags, ...join, ...flags, node.folder], {
    stdin: "ignore",
    stdout: "ignore",
    stderr: Bun.file(`${node.folder}.log`),
  });
  return { ...node, pid: child.pid, exited: child.exited, kill: (signal) => child.kill(signal) };
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
