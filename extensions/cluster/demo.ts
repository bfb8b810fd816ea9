/** bun run demo --cluster: three nodes and three servers on this machine. */
import { mkdirSync, rmSync } from "node:fs";
import { homedir } from "node:os";
import { join, resolve } from "node:path";
import { demoText, makeDemo } from "../../src/cli/demo/demo.ts";
import { demoServerEnvironment } from "../../src/config.ts";
import { paths } from "../../src/contract/paths.ts";
import { openFileDatabase } from "../../src/db/open.ts";
import { importerOn } from "../../src/import/write/import.ts";
import { onEndingSignal } from "../../src/process.ts";
import { adminCommand } from "../../src/program-name.ts";
import { UserError } from "../../src/user-error.ts";
import { findRqlited, placeNodes, type RunningNode, startCluster, startNode } from "./local-cluster.ts";
import { healthOf } from "./served-store.ts";

const folder = resolve("data/demo-cluster");
const names = ["n1", "n2", "n3"];
const firstPort = 3001;

/** Starts the nodes and servers, prints commands to try, and ends at Ctrl-C. */
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
  const started: { kill(signal: "SIGTERM"): void }[] = [];
  const end = () => {
    for (const child of started) child.kill("SIGTERM");
  };
  onEndingSignal(() => {
    end();
    process.exit(0);
  });
  try {
    const nodes = await startCluster(placeNodes(folder, names), file, (node, others) => {
      const child = startNode(rqlited, node, { others });
      started.push(child);
      return child;
    });
    const servers = nodes.map((node, place) => startServer(node, firstPort + place));
    started.push(...servers.map(({ child }) => child));
    await Promise.all(servers.map(untilServing));
    // Another program that has the port may have answered.
    const ended = servers.find(({ child }) => child.exitCode !== null);
    if (ended !== undefined) throw noAnswer(ended.url);
    process.stdout.write(`${demoText(demo, servers[0]?.url ?? "")}${clusterText(nodes, servers)}\nCtrl-C ends it.\n`);
  } catch (cause) {
    // A process that continues would keep its port.
    end();
    throw cause;
  }
}

function startServer({ path, url, name }: RunningNode, port: number) {
  const settings = { DATABASE_PATH: path, CLUSTER: url, NODE_NAME: name, PORT: String(port), LOG_LEVEL: "fatal" };
  const child = Bun.spawn([process.execPath, join(import.meta.dir, "../../src/main.ts")], {
    env: demoServerEnvironment(settings),
    stdin: "ignore",
    stdout: "ignore",
    stderr: "inherit",
  });
  return { url: `http://127.0.0.1:${port}`, child };
}

async function untilServing({ url, child }: ReturnType<typeof startServer>): Promise<void> {
  for (const endMs = performance.now() + 20_000; performance.now() < endMs; await Bun.sleep(50)) {
    if (child.exitCode !== null) break;
    if ((await healthOf(url)) === true) return;
  }
  throw noAnswer(url);
}

function noAnswer(url: string): UserError {
  return new UserError(`The server at ${url} does not answer.`, "See its messages above.");
}

type ShownNode = Pick<RunningNode, "path" | "url" | "name" | "pid">;

/** The commands to try with the nodes and servers. */
export function clusterText(nodes: readonly ShownNode[], servers: readonly { readonly url: string }[]): string {
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
