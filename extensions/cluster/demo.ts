/** bun run demo --cluster: three nodes and three servers on this machine, to see one die. */
import { mkdirSync, rmSync } from "node:fs";
import { homedir } from "node:os";
import { join, resolve } from "node:path";
import { demoText, makeDemo } from "../../src/cli/demo/demo.ts";
import { demoServerEnvironment } from "../../src/config.ts";
import { paths, publicPaths } from "../../src/contract/paths.ts";
import { openFileDatabase } from "../../src/db/open.ts";
import { importerOn } from "../../src/import/write/import.ts";
import { onEndingSignal } from "../../src/process.ts";
import { adminCommand } from "../../src/program-name.ts";
import { UserError } from "../../src/user-error.ts";
import { findRqlited, placeNodes, type RunningNode, startCluster, startNode } from "./local-cluster.ts";

const folder = resolve("data/demo-cluster");
const names = ["n1", "n2", "n3"];
const firstPort = 3001;

/** Starts all of it, prints what to try, and ends it with Ctrl-C. */
export async function demoCluster(): Promise<void> {
  const rqlited = findRqlited(homedir());
  if (rqlited === null) {
    throw new UserError(
      "rqlited is not installed.",
      "Install rqlite 9.4.5 from https://rqlite.io, or try: bun run demo.",
    );
  }
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const file = join(folder, "demo.db");
  const database = openFileDatabase(file);
  const demo = await makeDemo(database, importerOn(database.read), Date.now());
  database.close();
  const started: Pick<Server, "kill">[] = [];
  const end = () => {
    for (const { kill } of started) kill("SIGTERM");
  };
  onEndingSignal(() => {
    end();
    process.exit(0);
  });
  const kept = <One extends Pick<Server, "kill">>(one: One): One => {
    started.push(one);
    return one;
  };
  try {
    const nodes = await startCluster(placeNodes(folder, names), file, (node, others) =>
      kept(startNode(rqlited, node, { others })),
    );
    const servers = nodes.map((node, place) => kept(startServer(node, firstPort + place)));
    await Promise.all(servers.map(untilServing));
    // What answers may be somebody else's, who has the port.
    const ended = servers.find(({ hasEnded }) => hasEnded());
    if (ended !== undefined) throw silent(ended);
    process.stdout.write(`${demoText(demo, servers[0]?.url ?? "")}${clusterText(nodes, servers)}\nCtrl-C ends it.\n`);
  } catch (cause) {
    // Nothing may stay that nobody knows of, and that keeps the ports.
    end();
    throw cause;
  }
}

interface Server {
  readonly url: string;
  hasEnded(): boolean;
  kill(signal: "SIGTERM"): void;
}

function startServer({ path, url, name }: RunningNode, port: number): Server {
  const settings = { DATABASE_PATH: path, CLUSTER: url, NODE_NAME: name, PORT: String(port), LOG_LEVEL: "fatal" };
  const child = Bun.spawn([process.execPath, join(import.meta.dir, "../../src/main.ts")], {
    env: demoServerEnvironment(settings),
    stdin: "ignore",
    stdout: "ignore",
    stderr: "inherit",
  });
  return {
    url: `http://127.0.0.1:${port}`,
    hasEnded: () => child.exitCode !== null,
    kill: (signal) => child.kill(signal),
  };
}

async function untilServing(server: Server): Promise<void> {
  const endMs = performance.now() + 20_000;
  while (!server.hasEnded() && performance.now() < endMs) {
    const answer = await fetch(`${server.url}${publicPaths.health}`).catch(() => null);
    if (answer?.status === 200) return;
    await Bun.sleep(50);
  }
  throw silent(server);
}

function silent({ url }: Server): UserError {
  return new UserError(`The server at ${url} does not answer.`, "See what it has said above.");
}

type Tried = Pick<RunningNode, "path" | "url" | "name" | "pid">;

/** The commands to try with the nodes and servers. */
export function clusterText(nodes: readonly Tried[], servers: readonly Pick<Server, "url">[]): string {
  const [first, second] = nodes;
  if (first === undefined || second === undefined) return "";
  const settings = `DATABASE_PATH=${second.path} CLUSTER=${second.url} NODE_NAME=${second.name}`;
  return `
  # the same on every node
${servers.map(({ url }) => `  curl -H "Authorization: Bearer $LEADFILE_KEY" "${url}${paths.leads}?limit=1"`).join("\n")}

  # the state of the cluster
  ${settings} ${adminCommand} cluster status

  # kill the leader; the others continue to serve
  kill -9 ${first.pid}
`;
}
